const browsers: readonly [pattern: RegExp, name: string][] = [
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\//, 'Firefox'],
  [/Chrome\//, 'Chrome'],
  [/Safari\//, 'Safari'],
];

const systems: readonly [pattern: RegExp, name: string][] = [
  [/Android/, 'Android'],
  [/iPhone|iPad/, 'iOS'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/Linux/, 'Linux'],
];

function firstMatch(names: readonly [RegExp, string][], text: string): string | undefined {
  return names.find(([pattern]) => pattern.test(text))?.[1];
}

/** Names this browser in its owner's list of devices: coarse on purpose, since the relay stores it. */
export function deviceName(userAgent: string): string {
  const browser = firstMatch(browsers, userAgent) ?? 'Browser';
  const system = firstMatch(systems, userAgent);
  return system === undefined ? browser : `${browser} on ${system}`;
}
