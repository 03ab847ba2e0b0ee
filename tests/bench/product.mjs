// The built product as benchmarks use it: a relay that serves it, pages with profiles, and programs that use its code.
import { mkdtemp } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { chromium } from '@playwright/test';
import { build } from 'vite';
import { chromiumArgs, chromiumPath } from '../e2e/browser.mjs';
import { startRelay } from './relay/servers.mjs';

export const password = 'correct horse battery staple';

export function startProduct() {
  return startRelay({ webDir: fileURLToPath(new URL('../../dist', import.meta.url)) });
}

/** With a profile on the disk: a private window keeps IndexedDB in memory. */
export function openProfile(folder, options) {
  return chromium.launchPersistentContext(folder, {
    executablePath: chromiumPath,
    args: chromiumArgs,
    ...options,
  });
}

export async function signUp(page, username) {
  await page.goto('/signup');
  await page.getByLabel('Username').fill(username);
  await page.getByLabel('Email').fill(`${username}@example.org`);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('checkbox').click();
  await page.getByRole('button', { name: 'Sign Up' }).click();
  await page.waitForURL('/dashboard');
}

export async function logIn(page, username) {
  await page.goto('/login');
  await page.getByLabel('Username').fill(username);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Log In' }).click();
  await page.waitForURL('/dashboard');
}

/** Makes a contact of everybody who has asked, by the relay's calls: clicking hundreds of times measures nothing. */
export async function acceptAll(page) {
  await page.evaluate(async () => {
    const headers = { authorization: `Bearer ${localStorage.getItem('token')}` };
    const requests = await (await fetch('/api/contacts/requests', { headers })).json();
    for (const { id } of requests) await fetch(`/api/contacts/accept/${id}`, { method: 'POST', headers });
  });
  await page.reload();
}

export function composer(page) {
  return page.getByPlaceholder('Type a message...');
}

export async function write(page, text) {
  await composer(page).fill(text);
  await composer(page).press('Enter');
}

/**
 * Bundles a program for Node, which can't read TypeScript.
 *
 * @param {URL} source
 * @returns {Promise<string>} the folder that it is in, to be removed: inside the repository, so that the packages are found
 */
export async function bundle(source) {
  const folder = await mkdtemp(fileURLToPath(new URL('../../node_modules/.bench-', import.meta.url)));
  await build({
    configFile: fileURLToPath(new URL('program.vite.config.ts', import.meta.url)),
    build: { ssr: fileURLToPath(source), outDir: folder },
  });
  return folder;
}
