int main() { return 0
// -----
int main( { return 0; }
// -----
int main() { int x = ; }
// -----
int main() { if x > 0 { return 1; } }
// -----
int main() { for (int i = 0; i < 3) { } }
// -----
int main() { int a[3 = {1, 2, 3}; }
// -----
class A { int x; }
int main() { }
// -----
int main() { return (1 + 2; }
// -----
int main() { "text; }
// -----
int main() { char c = 'ab; }
// -----
int main() { while () { } }
// -----
int main() { int 3x = 1; }
// -----
int main() { int class = 1; }
// -----
template <typename> int f(T x) { return x }
// -----
int main() { else { } }
// -----
int main() { switch (1) { case: break; } }
// -----
int main() { try { } }
// -----
int main() { do { } while (1) }
// -----
struct S { void f() const const2 { } };
// -----
namespace a { int x = 1;
