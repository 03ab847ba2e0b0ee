/**
 * @param {readonly number[]} samples
 * @param {number} at between 0 and 1; linear between the two nearest samples
 */
export function quantile(samples, at) {
  const sorted = samples.toSorted((a, b) => a - b);
  const position = (sorted.length - 1) * at;
  const below = Math.floor(position);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (position - below);
}

export const median = (samples) => quantile(samples, 0.5);

/**
 * The ratio of one contender's cost to another's: the median over the rounds of the ratio within each round. A load
 * that slows the whole machine down slows both, and falls out.
 */
export function timesAsMuch(measurement, other) {
  return median(measurement.rounds.map((microseconds, round) => microseconds / other.rounds[round]));
}
