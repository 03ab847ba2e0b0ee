import { inject, vi } from 'vitest';

vi.mock(import('../../src/db/thread/entry.ts'), () => ({ threadEntry: inject('threadEntry') }));
