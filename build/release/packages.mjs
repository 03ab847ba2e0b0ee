// packages.d.mts says what it does.
export function productionPackages(lock, workspace, isInstalled) {
  /** @type {Set<string>} */
  const found = new Set();
  const waiting = [workspace];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const { dependencies = {}, optionalDependencies = {} } = lock.packages[folder] ?? {};
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      if (name.startsWith('@types/')) continue;
      const place = placeOf(lock, folder, name);
      const isOptional = name in optionalDependencies;
      if (place === null || !isInstalled(place)) {
        if (isOptional) continue;
        throw new Error(`${name}, which ${folder} needs, is not installed.`);
      }
      if (found.has(place)) continue;
      found.add(place);
      waiting.push(place);
    }
  }
  return [...found].toSorted((one, other) => (one < other ? -1 : 1));
}

/** Finds a package as Node does: in the folder's own node_modules, then in those of the folders around it. */
function placeOf(lock, folder, name) {
  for (let around = folder; ; around = around.slice(0, Math.max(0, around.lastIndexOf('/')))) {
    const place = `${around === '' ? '' : `${around}/`}node_modules/${name}`;
    if (place in lock.packages) return place;
    if (around === '') return null;
  }
}
