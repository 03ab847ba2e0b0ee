import { trustedScriptUrl } from '../lib/trustedScriptUrl.ts';
import type { OperatorSettings } from './precache.ts';

declare const self: ServiceWorkerGlobalScope & { operatorSettings?: OperatorSettings };

/**
 * Reads the operator's settings. The browser keeps an imported script with the service worker that imported it, where no
 * script of a page can write.
 */
export function operatorSettings(): OperatorSettings {
  self.importScripts(trustedScriptUrl('sinetti-operator', '/operator.js'));
  if (self.operatorSettings === undefined) throw new Error('the operator settings are missing');
  return self.operatorSettings;
}
