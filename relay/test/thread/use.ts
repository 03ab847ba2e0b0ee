import { pathToFileURL } from 'node:url';
import { inject, vi } from 'vitest';

vi.mock(import('../../src/messaging/append/threadEntry.ts'), () => ({
  threadEntry: pathToFileURL(inject('threadEntry')),
}));
