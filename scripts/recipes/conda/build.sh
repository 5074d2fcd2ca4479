# Run by conda build in the unpacked bundle. The start script chooses the C library, and finds everything
# beside itself.
mkdir -p "$PREFIX/bin" "$PREFIX/libexec/wirewatt"
cp -a . "$PREFIX/libexec/wirewatt/"
cat > "$PREFIX/bin/wirewatt" <<'START'
#!/bin/sh
exec "$(dirname "$(readlink -f "$0")")/../libexec/wirewatt/wirewatt" "$@"
START
chmod +x "$PREFIX/bin/wirewatt"
