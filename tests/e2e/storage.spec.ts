import { findsNoBarriers } from './support/axe.ts';
import { expect, test } from './support/test.ts';

test('a person has the browser keep their keys, on a page of the keys that no frame can be', async ({
  newBrowser,
}) => {
  const { person: alice } = await newBrowser('alice');
  const { page } = alice;
  await alice.signUp();
  await alice.tab('Profile').click();
  const link = page.getByRole('link', { name: 'Keep the data…' });
  await link.scrollIntoViewIfNeeded();

  const opening = page.context().waitForEvent('page');
  await link.click();
  const asking = await opening;
  await expect(asking.getByRole('heading', { name: 'Keep the data of this browser' })).toBeVisible();
  const keys = new URL(asking.url());
  expect(keys.pathname).toBe('/storage');
  expect(keys.origin).not.toBe(new URL(page.url()).origin);
  // The window that was opened has no handle on the app, and holds nothing of the keys.
  expect(await asking.evaluate(() => window.opener)).toBeNull();
  await findsNoBarriers(asking);

  await test.step('which refuses at first', async () => {
    await asking.getByRole('button', { name: 'Keep the data' }).click();
    await expect(asking.getByRole('status')).toHaveText(/^The browser did not agree\./);
    await asking.screenshot({ path: test.info().outputPath('refused.png') });
  });

  await test.step('and then agrees, and the page closes', async () => {
    const browser = await page.context().newCDPSession(page);
    const { targetInfo } = await browser.send('Target.getTargetInfo');
    await browser.send('Browser.setPermission', {
      ...(targetInfo.browserContextId !== undefined && { browserContextId: targetInfo.browserContextId }),
      permission: { name: 'persistent-storage' },
      setting: 'granted',
      origin: keys.origin,
    });
    await asking.getByRole('button', { name: 'Keep the data' }).click();
    await expect(asking.getByRole('status')).toHaveText('The browser keeps the data until you clear it.');
    const closed = asking.waitForEvent('close');
    await asking.getByRole('button', { name: 'Close this page' }).click();
    await closed;
  });

  await test.step('which is offered no more', async () => {
    await page.reload();
    await alice.tab('Profile').click();
    await expect(
      page.getByText('The browser keeps your keys and messages until you clear them.'),
    ).toBeVisible();
    await expect(link).toHaveCount(0);
  });

  await test.step('in Finnish and dark, too', async () => {
    const finnish = await page.context().newPage();
    await finnish.goto(`${keys.origin}/storage#language=fi&theme=dark`);
    await expect(finnish.getByRole('status')).toHaveText('Selain säilyttää tiedot, kunnes poistat ne.');
    await findsNoBarriers(finnish);
    await finnish.screenshot({ path: test.info().outputPath('finnish.png') });
  });

  await test.step('and the frame itself does nothing in a tab', async () => {
    const tab = await page.context().newPage();
    await tab.goto(`${keys.origin}/keys`);
    const answered = await tab.evaluate(async () => {
      const { port1, port2 } = new MessageChannel();
      const heard: unknown[] = [];
      port1.addEventListener('message', ({ data }) => heard.push(data));
      port1.start();
      window.postMessage({ type: 'connect' }, '*', [port2]);
      port1.postMessage({ type: 'lock' });
      await new Promise((resolve) => {
        window.addEventListener('message', resolve, { once: true });
        window.postMessage('after it', '*');
      });
      return heard;
    });
    expect(answered).toEqual([]);
    expect(await tab.evaluate(() => document.body.innerText.trim())).toBe('');
    await page.reload();
    await expect(alice.tab('Messages')).toBeVisible();
  });
});
