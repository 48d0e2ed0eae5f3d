#include <iostream>
int main() { std::cout << "hello\n"; return 0; }
// -----
#include <vector>
#include <algorithm>
using namespace std;

// whether two numbers are closer than the threshold
bool close_elements(const vector<float>& numbers, float threshold) {
    for (size_t i = 0; i < numbers.size(); i++) {
        for (size_t j = i + 1; j < numbers.size(); j++) {
            if (numbers[i] - numbers[j] < threshold && numbers[j] - numbers[i] < threshold) return true;
        }
    }
    return false;
}
// -----
#include <string>
#include <map>

struct Account {
    std::string owner;
    double balance = 0.0;
    explicit Account(std::string name, double start = 0) : owner(name), balance(start) {}
    bool withdraw(double amount) {
        if (amount > balance) { return false; }
        balance -= amount;
        return true;
    }
};

int main() {
    std::map<std::string, Account*> all;
    Account* one = new Account("eve", 10.5);
    all["eve"] = one;
    bool ok = all["eve"]->withdraw(3);
    delete one;
    return ok ? 0 : 1;
}
// -----
template <typename T>
class Stack {
public:
    Stack() : size(0) {}
    void push(const T& item) { items[size++] = item; }
    T pop() { return items[--size]; }
    bool empty() const { return size == 0; }
private:
    T items[64];
    int size;
};

int main() {
    Stack<int> numbers;
    numbers.push(1);
    numbers.push(2 << 3 | 1);
    while (!numbers.empty()) {
        numbers.pop();
    }
}
// -----
#include <cstdio>
int gcd(int a, int b) { return b == 0 ? a : gcd(b, a % b); }
int main() {
    int x = 84, y = 36;
    printf("%d\n", gcd(x, y));
    do { x /= 2; } while (x > 0);
    return 0;
}
// -----
#include <vector>
#include <algorithm>
int main() {
    std::vector<int> v = {5, 3, 8, 1};
    int limit = 4;
    std::sort(v.begin(), v.end(), [](int a, int b) { return a > b; });
    auto count = std::count_if(v.begin(), v.end(), [limit](const int& n) -> bool { return n > limit; });
    auto twice = [&](int n) { limit = n; return 2 * n; };
    return static_cast<int>(count) + twice(3);
}
// -----
enum class Colour : int { Red = 1, Green = 2, Blue = 4 };
enum Size { Small, Large };

const char* name_of(Colour c) {
    switch (c) {
        case Colour::Red: return "red";
        case Colour::Green:
        case Colour::Blue: {
            return "other";
        }
        default: break;
    }
    return nullptr;
}
// -----
#include <stdexcept>
#include <string>
int parse(const std::string& text) {
    try {
        if (text.empty()) throw std::invalid_argument("empty");
        return std::stoi(text);
    } catch (const std::invalid_argument& error) {
        return -1;
    } catch (...) {
        throw;
    }
}
// -----
class Shape {
public:
    virtual ~Shape() = default;
    virtual double area() const = 0;
};
class Square : public Shape {
    double side_;
public:
    explicit Square(double side) : side_(side) {}
    double area() const override { return side_ * side_; }
};
class Circle final : public Shape {
    double r;
public:
    Circle(double radius) : r{radius} {}
    double area() const override { return 3.14159 * r * r; }
};
double total(Shape** shapes, int n) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += shapes[i]->area();
    return sum;
}
// -----
#include <iostream>
#include <vector>
struct Point { int x, y; };
Point operator+(const Point& a, const Point& b) { return {a.x + b.x, a.y + b.y}; }
bool operator==(const Point& a, const Point& b) { return a.x == b.x && a.y == b.y; }
int main() {
    std::vector<Point> points{{1, 2}, {3, 4}};
    Point sum{0, 0};
    for (const auto& p : points) sum = sum + p;
    for (auto [x, y] : points) { std::cout << x << ' ' << y << '\n'; }
    return sum == Point{4, 6} ? 0 : 1;
}
// -----
namespace geometry {
    constexpr double pi = 3.141592653589793;
    inline double area(double r) { return pi * r * r; }
    namespace detail { static int calls = 0; }
}
using Number = double;
typedef unsigned long long big;
Number twice(Number n) { return n * 2; }
int main() {
    big b = 18446744073709551615ULL;
    unsigned int mask = 0xFFu;
    long total = 1'000'000L;
    return (int)(geometry::area(2.0) + twice(1e-3)) & ~mask ^ b >> 60 ? 1 : (total, 0);
}
// -----
#include <memory>
#include <utility>
template <typename K, typename V = int>
struct Node {
    K key;
    V value;
    std::unique_ptr<Node<K, V>> left, right;
};
template <typename K, typename V>
V* find(Node<K, V>* node, const K& key) {
    while (node) {
        if (key < node->key) node = node->left.get();
        else if (node->key < key) node = node->right.get();
        else return &node->value;
    }
    return nullptr;
}
// -----
#include <string>
std::string reversed(std::string text) {
    std::string out;
    for (int i = (int)text.size() - 1; i >= 0; i--) out += text[i];
    return out;
}
bool palindrome(const std::string &s) { return s == reversed(s); }
// -----
/* A matrix of fixed size,
   with * and ** in the comment */
#include <array>
template <int N>
struct Matrix {
    double cells[N][N];
    double trace() const {
        double sum = 0;
        for (int i = 0; i != N; ++i) sum += cells[i][i];
        return sum;
    }
};
int main() { Matrix<2> m = {{{1, 2}, {3, 4}}}; return m.trace() > 4 ? 0 : 1; }
// -----
#define LIMIT 100
#include <cstddef>
static int sieve[LIMIT];
std::size_t primes() {
    std::size_t found = 0;
    for (int i = 2; i < LIMIT; i++) {
        if (sieve[i]) continue;
        found++;
        for (int j = i * i; j < LIMIT; j += i) sieve[j] = 1;
    }
    return found;
}
// -----
#include <functional>
#include <map>
#include <string>
int apply(const std::string& op, int a, int b) {
    std::map<std::string, std::function<int(int, int)>> table;
    table["+"] = [](int x, int y) { return x + y; };
    table["-"] = [](int x, int y) { return x - y; };
    auto found = table.find(op);
    if (found == table.end()) return 0;
    return found->second(a, b);
}
// -----
#include <iostream>
int main(int argc, char** argv) {
    int* counts = new int[argc];
    for (int i = 0; i < argc; ++i) {
        counts[i] = 0;
        for (char* p = argv[i]; *p != '\0'; p++) counts[i] += *p == 'a' || *p == '\x41';
    }
    std::cerr << "size " << sizeof(int) * argc << std::endl;
    delete[] counts;
}
// -----
class Counter {
    int value;
    static int instances;
public:
    Counter() : value(0) { ++instances; }
    Counter(const Counter& other) = delete;
    Counter& operator+=(int n) { value += n; return *this; }
    int get() const noexcept { return this->value; }
    friend bool operator<(const Counter& a, const Counter& b) { return a.value < b.value; }
};
int Counter::instances = 0;
// -----
#include <vector>
using std::vector;
vector<vector<int>> pascal(int rows) {
    vector<vector<int>> out;
    for (int r = 0; r < rows; r++) {
        vector<int> row(r + 1, 1);
        for (int c = 1; c < r; c++) { row[c] = out[r - 1][c - 1] + out[r - 1][c]; }
        out.push_back(row);
    }
    return out;
}
// -----
#include <queue>
#include <vector>
int shortest(const std::vector<std::vector<int>>& graph, int from, int to) {
    std::vector<int> distance(graph.size(), -1);
    std::queue<int> todo;
    todo.push(from);
    distance[from] = 0;
    while (!todo.empty()) {
        int at = todo.front();
        todo.pop();
        if (at == to) break;
        for (int next : graph[at]) {
            if (distance[next] >= 0) continue;
            distance[next] = distance[at] + 1;
            todo.push(next);
        }
    }
    return distance[to];
}
