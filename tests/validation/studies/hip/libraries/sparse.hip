// rocSPARSE: products of a sparse matrix with a vector, its transposition and a triangular system, in
// whole numbers that floats hold, against the host's.
#include <hip/hip_runtime.h>
#include <rocsparse.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <vector>

namespace {

constexpr int kRows = 3000;
int failures = 0;

void check(const char* what, bool holds) {
  if (holds) return;
  std::printf("FAILED %s\n", what);
  ++failures;
}
void check(const char* what, rocsparse_status status) {
  if (status == rocsparse_status_success) return;
  std::printf("FAILED %s: status %d\n", what, static_cast<int>(status));
  ++failures;
}

template <class T>
class OnDevice {
 public:
  explicit OnDevice(const std::vector<T>& values) : count_(values.size()) {
    check("allocate", hipMalloc(&begin_, count_ * sizeof(T)) == hipSuccess);
    check("copy", hipMemcpy(begin_, values.data(), count_ * sizeof(T), hipMemcpyHostToDevice) ==
                      hipSuccess);
  }
  explicit OnDevice(std::size_t count) : OnDevice(std::vector<T>(count)) {}
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  ~OnDevice() { (void)hipFree(begin_); }
  T* get() { return begin_; }
  std::vector<T> values() const {
    std::vector<T> found(count_);
    check("copy back", hipMemcpy(found.data(), begin_, count_ * sizeof(T), hipMemcpyDeviceToHost) ==
                           hipSuccess);
    return found;
  }

 private:
  T* begin_{};
  std::size_t count_;
};

// By rows.
struct Matrix {
  std::vector<int> row{0};
  std::vector<int> column;
  std::vector<float> value;
  void add(int at, float x) {
    column.push_back(at);
    value.push_back(x);
  }
  void end_row() { row.push_back(static_cast<int>(column.size())); }
  int elements() const { return static_cast<int>(column.size()); }
};

void try_product(rocsparse_handle handle, const Matrix& matrix, const std::vector<float>& x) {
  OnDevice<int> row(matrix.row), column(matrix.column);
  OnDevice<float> value(matrix.value), factor(x);
  rocsparse_mat_descr form = nullptr;
  rocsparse_mat_info info = nullptr;
  check("describe", rocsparse_create_mat_descr(&form));
  check("inform", rocsparse_create_mat_info(&info));
  std::vector<float> wanted(kRows);
  for (int i = 0; i < kRows; ++i) {
    float sum = 0;
    for (int j = matrix.row[i]; j < matrix.row[i + 1]; ++j) {
      sum += matrix.value[j] * x[matrix.column[j]];
    }
    wanted[i] = 2 * sum + 3;
  }
  const float alpha = 2;
  const float beta = 3;
  for (const bool analysed : {false, true}) {
    OnDevice<float> y(std::vector<float>(kRows, 1));
    if (analysed) {
      check("analyse", rocsparse_scsrmv_analysis(handle, rocsparse_operation_none, kRows, kRows,
                                                 matrix.elements(), form, value.get(), row.get(),
                                                 column.get(), info));
    }
    check("multiply", rocsparse_scsrmv(handle, rocsparse_operation_none, kRows, kRows,
                                       matrix.elements(), &alpha, form, value.get(), row.get(),
                                       column.get(), analysed ? info : nullptr, factor.get(), &beta,
                                       y.get()));
    check(analysed ? "product of an analysed matrix" : "product", y.values() == wanted);
  }
  rocsparse_destroy_mat_info(info);
  rocsparse_destroy_mat_descr(form);
}

void try_transposition(rocsparse_handle handle, const Matrix& matrix) {
  OnDevice<int> row(matrix.row), column(matrix.column);
  OnDevice<float> value(matrix.value);
  OnDevice<int> row_out(matrix.column.size()), column_out(kRows + 1);
  OnDevice<float> value_out(matrix.value.size());
  std::size_t bytes = 0;
  check("ask for scratch", rocsparse_csr2csc_buffer_size(handle, kRows, kRows, matrix.elements(),
                                                         row.get(), column.get(),
                                                         rocsparse_action_numeric, &bytes));
  OnDevice<char> scratch(bytes);
  check("transpose", rocsparse_scsr2csc(handle, kRows, kRows, matrix.elements(), value.get(),
                                        row.get(), column.get(), value_out.get(), row_out.get(),
                                        column_out.get(), rocsparse_action_numeric,
                                        rocsparse_index_base_zero, scratch.get()));
  std::vector<int> begin(kRows + 1);
  for (const int at : matrix.column) ++begin[at + 1];
  for (int i = 0; i < kRows; ++i) begin[i + 1] += begin[i];
  std::vector<int> next = begin;
  std::vector<int> rows(matrix.column.size());
  std::vector<float> values(matrix.value.size());
  for (int i = 0; i < kRows; ++i) {
    for (int j = matrix.row[i]; j < matrix.row[i + 1]; ++j) {
      const int at = next[matrix.column[j]]++;
      rows[at] = i;
      values[at] = matrix.value[j];
    }
  }
  check("transposition", column_out.values() == begin && row_out.values() == rows &&
                             value_out.values() == values);
}

// Wavefronts wait for what others have found.
void try_triangle(rocsparse_handle handle, const std::vector<float>& x) {
  Matrix matrix;
  for (int i = 0; i < kRows; ++i) {
    if (i >= 7 && i % 3 == 0) matrix.add(i - 7, 1);
    if (i > 0 && i % 2 == 0) matrix.add(i - 1, -1);
    matrix.add(i, 1);
    matrix.end_row();
  }
  OnDevice<int> row(matrix.row), column(matrix.column);
  OnDevice<float> value(matrix.value), right(x), solution(kRows);
  rocsparse_mat_descr form = nullptr;
  rocsparse_mat_info info = nullptr;
  check("describe", rocsparse_create_mat_descr(&form));
  check("fill", rocsparse_set_mat_fill_mode(form, rocsparse_fill_mode_lower));
  check("inform", rocsparse_create_mat_info(&info));
  std::size_t bytes = 0;
  check("ask for scratch",
        rocsparse_scsrsv_buffer_size(handle, rocsparse_operation_none, kRows, matrix.elements(),
                                     form, value.get(), row.get(), column.get(), info, &bytes));
  OnDevice<char> scratch(bytes);
  check("analyse a triangle",
        rocsparse_scsrsv_analysis(handle, rocsparse_operation_none, kRows, matrix.elements(), form,
                                  value.get(), row.get(), column.get(), info,
                                  rocsparse_analysis_policy_force, rocsparse_solve_policy_auto,
                                  scratch.get()));
  const float alpha = 1;
  check("solve", rocsparse_scsrsv_solve(handle, rocsparse_operation_none, kRows, matrix.elements(),
                                        &alpha, form, value.get(), row.get(), column.get(), info,
                                        right.get(), solution.get(), rocsparse_solve_policy_auto,
                                        scratch.get()));
  std::vector<float> wanted(kRows);
  for (int i = 0; i < kRows; ++i) {
    wanted[i] = x[i];
    for (int j = matrix.row[i]; j + 1 < matrix.row[i + 1]; ++j) {
      wanted[i] -= matrix.value[j] * wanted[matrix.column[j]];
    }
  }
  check("solution of a triangle", solution.values() == wanted);
  rocsparse_destroy_mat_info(info);
  rocsparse_destroy_mat_descr(form);
}

}  // namespace

int main() {
  std::mt19937 random(7);
  Matrix matrix;
  for (int i = 0; i < kRows; ++i) {
    const unsigned count = 1 + random() % 12;
    unsigned at = random() % 50;
    for (unsigned j = 0; j < count && at < kRows; ++j, at += 1 + random() % 200) {
      matrix.add(static_cast<int>(at), static_cast<float>(static_cast<int>(random() % 17) - 8));
    }
    matrix.end_row();
  }
  std::vector<float> x(kRows);
  for (float& each : x) each = static_cast<float>(static_cast<int>(random() % 9) - 4);
  rocsparse_handle handle = nullptr;
  check("begin", rocsparse_create_handle(&handle));
  try_product(handle, matrix, x);
  try_transposition(handle, matrix);
  try_triangle(handle, x);
  rocsparse_destroy_handle(handle);
  std::puts(failures == 0 ? "PASS" : "FAIL");
  return failures != 0;
}
