const count = 64;
/** The largest of its values. */
export const loudest = 31;
/** The least loudness that fills the height: a recording that is quieter all the way is noise. */
const quiet = 0.05;

/**
 * Makes a waveform of how loud a recording was: 64 values from 0 to 31, the loudest of which is 31.
 * @param levels from 0 to 1, evenly in time
 */
export function waveformOf(levels: readonly number[]): number[] {
  const top = levels.reduce((most, level) => Math.max(most, level), quiet);
  return Array.from({ length: count }, (_, at) => {
    const from = Math.floor((at * levels.length) / count);
    const to = Math.max(from + 1, Math.floor(((at + 1) * levels.length) / count));
    const most = levels.slice(from, to).reduce((before, level) => Math.max(before, level), 0);
    return Math.min(loudest, Math.round((most / top) * loudest));
  });
}
