import { alertOn, callsOf, failCalls, tokenIn, watchFor, whileFailing } from './support/failing.ts';
import { expect, test } from './support/test.ts';

/** Deriving keys from a password is slow on purpose, and slower on a busy machine. */
const keysTake = { timeout: 60_000 };

/** A token that only looks like one. */
function unsigned(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'none' })}.${part(claims)}.c2lnbmF0dXJl`;
}

test('visitors stay outside, and signing up and logging in say why they failed', async ({ newBrowser }) => {
  const { person: ines, context } = await newBrowser('ines');
  const { page } = ines;
  const calls = callsOf(page);
  const token = tokenIn(page);

  await test.step('the dashboard asks visitors to log in, also those whose token is worth nothing', async () => {
    await page.goto('/no/such/page');
    await expect(page).toHaveURL('/');
    const expired = unsigned({ sub: 'somebody', exp: 1 });
    for (const worthless of ['', 'not.a-token', expired]) {
      await token.store(worthless);
      await page.goto('/dashboard');
      await expect(page).toHaveURL('/login');
      await expect.poll(() => token.read()).toBeNull();
    }
    expect(calls).toEqual([]);
  });

  await test.step('a page that one comes to begins at its top', async () => {
    await page.goto('/');
    const about = page.getByRole('contentinfo').getByRole('link', { name: 'About' });
    await about.scrollIntoViewIfNeeded();
    expect(await page.evaluate(() => scrollY)).toBeGreaterThan(0);
    await about.click();
    await expect(page.getByRole('heading', { level: 1 })).toBeInViewport();
    expect(await page.evaluate(() => scrollY)).toBe(0);
  });

  await test.step('signing up says why it fails, tries its paths in turn, and says that it is done', async () => {
    await page.goto('/signup');
    await page.getByLabel('Username').fill(ines.username);
    await page.getByLabel('Email').fill(ines.email);
    await page.getByLabel('Password', { exact: true }).fill(ines.password);
    const signUp = page.getByRole('button', { name: 'Sign Up' });
    await signUp.click();
    await expect(page.getByText('You must accept the Privacy Policy to create an account.')).toBeVisible();
    // The page asks who can sign up as it opens.
    expect(calls.splice(0)).toEqual(['GET /version']);
    await page.getByRole('checkbox').click();
    const anyPath = /^\/(auth\/)?(register|signup)$/;
    for (const [failure, sentence] of [
      [{ status: 429, code: 'rate-limited', detail: 'Not so many at once.' }, 'Not so many at once.'],
      [500, 'Failed to create account. Please try again.'],
      [
        'no answer',
        'Failed to create account. Check if the username or email is already registered or if the backend is temporarily unavailable.',
      ],
    ] as const) {
      await whileFailing(context, 'POST', anyPath, failure, async () => {
        await signUp.click();
        await expect(alertOn(page, sentence)).toBeVisible(keysTake);
      });
    }
    calls.length = 0;
    // The first answer of the contacts is what the sentence is about; later ones are read in the background.
    const mendRequests = await failCalls(context, 'GET', /^\/contacts\/requests$/, 500);
    await whileFailing(context, 'POST', /^\/(register|signup)$/, 404, async () => {
      const succeeds = await watchFor(page, 'Account created successfully! Redirecting to dashboard...');
      const sent = page.waitForRequest(/\/api\/auth\/register$/, keysTake);
      await signUp.click();
      await expect(page.getByRole('button', { name: 'Creating account...' })).toBeDisabled();
      expect((await sent).postDataJSON()).toMatchObject({
        username: 'ines',
        email: 'ines@example.org',
        full_name: 'ines',
        consent: { privacyConsent: true, consentTimestamp: expect.stringMatching(/^\d{4}-.*Z$/) },
      });
      await expect.poll(succeeds, keysTake).toBe(true);
    });
    expect(calls.slice(0, 3)).toEqual(['POST /register', 'POST /signup', 'POST /auth/register']);
    await ines.onDashboard();
    expect((await token.read())?.split('.')).toHaveLength(3);

    await ines.tab('Contacts').click();
    await expect(alertOn(page, 'Failed to load contact requests. Please try again.')).toBeVisible();
    await mendRequests();
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect(alertOn(page, 'Failed to load')).toBeHidden();
  });

  await test.step('who is signed in is led from the pages of visitors to the dashboard', async () => {
    for (const path of ['/', '/login', '/signup']) {
      await page.goto(path);
      await expect(page).toHaveURL('/dashboard');
    }
  });

  await test.step('the event auth-error ends the session', async () => {
    await ines.onDashboard();
    await page.evaluate(() => window.dispatchEvent(new Event('auth-error')));
    await expect(page).toHaveURL('/login');
    await expect(alertOn(page, 'Session expired. Please login again.')).toBeVisible();
    expect(await token.read()).toBeNull();
  });

  await test.step('logging in says why it fails, and tries its paths in turn', async () => {
    await page.getByLabel('Username').fill(ines.username);
    await page.getByLabel('Password', { exact: true }).fill(ines.password);
    const logIn = page.getByRole('button', { name: 'Log In' });
    const anyPath = /^\/(auth\/)?login(\/email)?$/;
    for (const [failure, sentence] of [
      [{ status: 429, code: 'rate-limited', detail: 'Too many attempts.' }, 'Too many attempts.'],
      [500, 'Failed to log in. Please check your credentials.'],
      ['no answer', 'Failed to login. Check your credentials or try again later.'],
    ] as const) {
      await whileFailing(context, 'POST', anyPath, failure, async () => {
        await logIn.click();
        await expect(alertOn(page, sentence)).toBeVisible(keysTake);
      });
    }
    calls.length = 0;
    await whileFailing(context, 'POST', /^\/login(\/email)?$/, 404, async () => {
      const sent = page.waitForRequest(/\/api\/auth\/login$/, keysTake);
      await logIn.click();
      await expect(page.getByRole('button', { name: 'Logging in...' })).toBeDisabled();
      const body = (await sent).postDataJSON();
      expect(body.email).toBe('ines');
      expect(body.password).not.toContain(ines.password);
    });
    const posts = calls.filter((call) => call.startsWith('POST'));
    expect(posts.slice(0, 3)).toEqual(['POST /login/email', 'POST /login', 'POST /auth/login']);
    await ines.onDashboard();
  });

  await test.step('a profile that is not answered is asked for once more; one that is refused ends the session', async () => {
    await page.goto('about:blank');
    calls.length = 0;
    await context.route('**/api/profile', (route) => route.fulfill({ status: 500, body: '' }), { times: 1 });
    await page.goto('/dashboard');
    await ines.onDashboard();
    // Other requests of the start come between them on a slow machine.
    const profiles = () => calls.filter((call) => call === 'GET /profile');
    await expect.poll(profiles).toEqual(['GET /profile', 'GET /profile']);
    const [header = '', claims = ''] = ((await token.read()) ?? '').split('.');
    // From the beginning of the next start: in this session any call could be the one that ends it.
    await page.addInitScript(
      (forged) => localStorage.setItem('token', forged),
      `${header}.${claims}.c2lnbmF0dXJl`,
    );
    await page.reload();
    await expect(page).toHaveURL('/login');
    await expect(alertOn(page, 'Session expired. Please login again.')).toBeVisible();
    expect(await token.read()).toBeNull();
  });
});
