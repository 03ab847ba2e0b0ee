/** Returns the app of an origin of the keys: without the first label, or at the port before (workers/api/origins.ts). */
export function appOf(keys: string): string {
  const address = new URL(keys);
  if (address.hostname.startsWith('keys.')) address.hostname = address.hostname.slice('keys.'.length);
  else address.port = String(Number(address.port) - 1);
  return address.origin;
}
