import { describe, expect, it } from 'vitest';
import {
  findLogPosition,
  LOG_POSITION_EXTENSION,
  type LogPosition,
  logPositionExtension,
} from '../../src/content/logPosition.ts';
import { codeOf } from '../codeOf.ts';

const position: LogPosition = { start: 3, position: 2 ** 40, hash: new Uint8Array(32).fill(7) };

describe('the log position in a GroupInfo', () => {
  it('reads as it was written', () => {
    expect(findLogPosition([logPositionExtension(position)])).toEqual(position);
    expect(findLogPosition([])).toBeNull();
  });

  it('is refused in another form', () => {
    const { data } = logPositionExtension(position);
    const read = (bytes: Uint8Array) =>
      codeOf(() => findLogPosition([{ type: LOG_POSITION_EXTENSION, data: bytes }]));
    expect(read(data.subarray(1))).toBe('unsupported');
    expect(read(data.subarray(0, 48))).toBe('malformed');
    expect(read(new Uint8Array([...data, 0]))).toBe('malformed');
    expect(
      read(new Uint8Array([1, ...data.subarray(9, 17), ...data.subarray(1, 9), ...data.subarray(17)])),
    ).toBe('malformed');
    expect(codeOf(() => logPositionExtension({ ...position, start: 2 ** 41 }))).toBe('usage');
    expect(codeOf(() => logPositionExtension({ ...position, hash: new Uint8Array(33) }))).toBe('usage');
  });
});
