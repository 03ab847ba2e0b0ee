import { afterEach, expect, it } from 'vitest';
import { activateLocale } from '#src/i18n/i18n.ts';
import { ApiError } from '#src/net/errors.ts';
import { sendErrorText } from '#src/services/conversations/sendErrors.ts';
import { toAppError } from '#src/services/core/failures.ts';
import { CryptoApiError } from '#workers/api/errors.ts';

afterEach(() => activateLocale('en'));

it('a full quota is said in the words of the relay in English, and in Finnish in Finnish', async () => {
  const full = new ApiError({ status: 413, code: 'quota', detail: 'There is no more room for messages.' });
  expect(toAppError(full, 'Failed.').message).toBe('There is no more room for messages.');
  expect(sendErrorText(full)).toContain('There is no more room for messages.');
  await activateLocale('fi');
  const finnish = 'Tälle ei ole enää tilaa, tai tämä on tehty liian monta kertaa. Yritä myöhemmin uudelleen.';
  expect(toAppError(full, 'Epäonnistui.').message).toBe(finnish);
  expect(sendErrorText(full)).toContain(finnish);
});

it('a message that the server stored where another one was read is told of by that reason', async () => {
  const taken = new CryptoApiError('position-taken');
  expect(sendErrorText(taken)).toBe(
    'Failed to send message: The server says it stored this message where you have already read another one. It may have lost messages.',
  );
  await activateLocale('fi');
  expect(sendErrorText(taken)).toContain('Palvelin sanoo tallentaneensa tämän viestin kohtaan');
});
