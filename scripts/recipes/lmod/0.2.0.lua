-- Lmod module file of a bundle (scripts/bundle). Put it at MODULEPATH/wirewatt/0.2.0.lua and set `root`.
local root = os.getenv("WIREWATT_ROOT") or "/opt/wirewatt/0.2.0"

help([[
Measures what the on-chip wires of GPUs cost, and estimates it in applications.
Begin with: wirewatt devices
Drivers of the GPUs are the node's own.
]])
whatis("Name: wirewatt")
whatis("Version: 0.2.0")
whatis("Description: on-chip interconnect energy of GPUs")

conflict("wirewatt")
if mode() == "load" and not isFile(pathJoin(root, "wirewatt")) then
  LmodError("there is no wirewatt in " .. root .. ": set root in " .. myFileName())
end
-- The start script, not bin/: it chooses the C library and finds the driver of the virtual GPU.
prepend_path("PATH", root)
