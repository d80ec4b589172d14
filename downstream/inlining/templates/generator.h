#include <coroutine>
#include <cstdio>
struct Guard { ~Guard() { std::puts("left"); } };
struct Numbers {
  struct promise_type {
    int current;
    Numbers get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(int x) { current = x; return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> handle;
  Numbers(std::coroutine_handle<promise_type> h) : handle(h) {}
  Numbers(const Numbers &) = delete;
  ~Numbers() { handle.destroy(); }
  bool next() { handle.resume(); return !handle.done(); }
  int value() const { return handle.promise().current; }
};
