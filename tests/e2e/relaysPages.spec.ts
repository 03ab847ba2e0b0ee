import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { keep, type SignedReleases, signedReleases } from './support/signedReleases.ts';
import { expect, test as withoutRelease } from './support/test.ts';

const test = withoutRelease.extend<SignedReleases>(signedReleases);

test.use({ mayBeForbidden: true });

test('no page of the relay’s is shown beside what a browser holds on to: after a form of another site, nor where storage is asked for', async ({
  newBrowser,
  served,
}) => {
  const { context, person: alice } = await newBrowser('alice');
  await keep(alice);
  const app = new URL(alice.page.url()).origin;
  const frame = alice.page.frames().find((one) => one.url().endsWith('/keys'));
  const room = frame?.url() ?? '';

  const elsewhere = await context.newPage();
  for (const address of [`${app}/dashboard`, `${app}/index.html`, room]) {
    await test.step(`a form is posted to ${new URL(address).pathname}`, async () => {
      await elsewhere.goto('about:blank');
      await elsewhere.setContent(`<form method="post" action="${address}"><button>Go</button></form>`);
      const answered = elsewhere.waitForResponse(address);
      await elsewhere.getByRole('button').click();
      const answer = await answered;
      expect([answer.fromServiceWorker(), answer.status()]).toEqual([true, 404]);
    });
  }

  await test.step('the page that asks for storage is another one', async () => {
    const tab = await context.newPage();
    await tab.goto(room.replace(/keys$/, 'storage'));
    await expect(tab.getByRole('button', { name: 'Keep the data' })).toBeVisible();
    const file = join(served.folder, 'keys/storage.html');
    await writeFile(file, (await readFile(file, 'utf8')).replace('<main>', '<main><p>Password?</p>'));
    await rm(`${file}.br`);
    await tab.reload();
    await expect(tab.getByText('is not that of the version that you agreed to')).toBeVisible();
    await expect(tab.getByText('Password?')).toHaveCount(0);
  });
});
