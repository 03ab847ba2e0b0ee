interface LockedPackage {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/**
 * The packages that one workspace needs in production, by the lock file: those of its dependencies and of theirs, with the
 * optional ones that are installed on this platform, and without types.
 * @param workspace its folder
 * @returns folders such as `node_modules/ws`, sorted
 * @throws Error naming a dependency that is not installed
 */
export function productionPackages(
  lock: { readonly packages: Readonly<Record<string, LockedPackage>> },
  workspace: string,
  isInstalled: (folder: string) => boolean,
): string[];
