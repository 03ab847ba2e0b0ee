import { defineConfig } from '@playwright/test';
import base from '../../playwright.config.ts';

/** `npm run pictures` takes the landing page's pictures of the product anew, from the product as it is built. */
export default defineConfig({ ...base, testDir: '.', outputDir: '../../test-results' });
