import { describe, expect, it } from 'vitest';
import { AppError } from '#src/lib/appError.ts';
import { failureReport } from '#src/lib/failureReport.ts';

const secret = 'Meet me at the pier at nine';
const userAgent =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.7390.1 Safari/537.36';

const report = (error: unknown) => failureReport({ part: 'chat', error, userAgent });

function errorWith(properties: Partial<Record<'name' | 'stack' | 'code', unknown>>, message = secret): Error {
  return Object.assign(new Error(message), properties);
}

describe('a report of a failure', () => {
  it('names the part, the kind of error, the version and the browser', () => {
    expect(report(new AppError('storage-erased', secret))).toMatch(
      /^Version: \d+\.\d+\.\d+\nBrowser: Chrome on Linux, 141\nPart: chat\nError: AppError, storage-erased$/,
    );
  });

  it('names the places in our scripts, innermost first', () => {
    const stack = [
      `TypeError: ${secret}`,
      '    at xe (https://chat.example.org/assets/DashboardPage-DSxoPRS7.js:1:204)',
      '    at https://chat.example.org/assets/react-Bh0Zeg6T.js:9:12',
      '    at aino@example.fi (https://elsewhere.example/tracker.js:1:1)',
    ].join('\n');
    const text = report(errorWith({ stack }));
    expect(text).toContain('At: DashboardPage-DSxoPRS7.js:1:204\nAt: react-Bh0Zeg6T.js:9:12');
    expect(text).not.toMatch(/example/);
  });

  it.each([
    ['its message', errorWith({})],
    ['its name', errorWith({ name: secret })],
    ['its code', errorWith({ code: secret })],
    ['a stack that is only a message', errorWith({ stack: secret })],
    ['a text that was thrown', secret],
    ['an object that was thrown', { message: secret, code: secret }],
  ])('keeps to itself what somebody wrote: %s', (_where, error) => {
    expect(report(error)).not.toContain('pier');
  });

  it('takes no line of a message for a place in the code', () => {
    const message = 'hello\n    at x (http://h/assets/secret-abcdefgh.js:1:1)';
    expect(report(errorWith({}, message))).not.toContain('secret');
  });
});
