import '@testing-library/jest-dom/vitest';
import { cleanup, configure } from '@testing-library/react';
import { afterEach } from 'vitest';
import { activateLocale } from '#src/i18n/i18n.ts';
import { layOut } from './support/layout.ts';

await activateLocale('en');
layOut();

// Generous: a busy machine must not fail what is right.
configure({ asyncUtilTimeout: 60_000 });

afterEach(() => {
  cleanup();
});
