#include <cstdio>
#include <functional>
#include <queue>
#include <vector>

// A heap that gives its smallest element first does all the work.
class Sorter {
public:
  void add(long v) { heap_.push(v); }
  bool empty() const { return heap_.empty(); }
  long take() {
    long v = heap_.top();
    heap_.pop();
    return v;
  }

private:
  std::priority_queue<long, std::vector<long>, std::greater<long>> heap_;
};

int main() {
  Sorter sorter;
  int n = 0;
  long v = 0;
  if (std::scanf("%d", &n) != 1) return 1;
  while (n-- > 0 && std::scanf("%ld", &v) == 1) sorter.add(v);
  const char *gap = "";
  while (!sorter.empty()) {
    std::printf("%s%ld", gap, sorter.take());
    gap = " ";
  }
  std::printf("\n");
  return 0;
}
