/**
 * Returns whether an origin is where the keys of an app's users are: `keys.` and the app's host, or the app's host on the
 * port after the app's. Nothing else is of one site with the app, or is known to be the same operator's.
 */
export function isKeysOriginOf(appOrigin: string, keysOrigin: string): boolean {
  if (!URL.canParse(appOrigin) || !URL.canParse(keysOrigin)) return false;
  const [app, keys] = [new URL(appOrigin), new URL(keysOrigin)];
  if (app.protocol !== keys.protocol) return false;
  if (keys.hostname === app.hostname) return portOf(keys) === portOf(app) + 1;
  return keys.hostname === `keys.${app.hostname}` && portOf(keys) === portOf(app);
}

function portOf({ port, protocol }: URL): number {
  if (port !== '') return Number(port);
  return protocol === 'https:' ? 443 : 80;
}
