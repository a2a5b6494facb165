// What standard libraries do in their own ways.
#include <algorithm>
#include <random>
#include <vector>

void shuffled(std::vector<int>& order, std::mt19937& engine) {
  std::shuffle(order.begin(), order.end(), engine); // expect: unspecified-shuffle
}

float drawn(std::mt19937& engine) {
  std::normal_distribution<float> normal(0, 1); // expect: unspecified-shuffle
  return normal(engine);
}

// Only the first of a kind in a file.
float again(std::mt19937& engine) {
  std::uniform_real_distribution<float> uniform(0, 1);
  return uniform(engine);
}

// Right.
void by_hand(std::vector<int>& order, std::mt19937& engine) {
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[engine() % i]);
}

struct Deck {
  void shuffle();
};
void own_shuffle(Deck& deck) { deck.shuffle(); }
