import { operatorPath } from '@sinetti/relay/contract/operator';
import { trustedScriptUrl } from '../lib/trustedScriptUrl.ts';
import type { OperatorSettings } from './precache.ts';

/** The part of a service worker's scope that is used: pages are checked without its types. */
interface Scope {
  importScripts(url: string): void;
  /** Set by the imported script. */
  operatorSettings?: OperatorSettings;
}

/**
 * Reads the operator's settings. The browser keeps an imported script with the service worker that imported it, where no
 * script of a page can write.
 */
export function importOperatorSettings(scope: Scope): OperatorSettings {
  scope.importScripts(trustedScriptUrl('sinetti-operator', '/operator.js'));
  if (scope.operatorSettings === undefined) throw new Error('the operator settings are missing');
  return scope.operatorSettings;
}

/**
 * Answers the page with the settings that came with this version of the service worker, which no script of the page could
 * change meanwhile; null for every other request.
 */
export function answerOperator(
  { method, url }: Pick<Request, 'method' | 'url'>,
  origin: string,
  { headers, operator }: OperatorSettings,
): Response | null {
  if (method !== 'GET' || url !== `${origin}${operatorPath}`) return null;
  const type = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-cache' };
  return new Response(JSON.stringify(operator), { headers: { ...headers.app.page, ...type } });
}
