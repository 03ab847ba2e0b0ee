export interface Origin {
  /** Owner, name, commit and path of the published file. */
  readonly place: string;
  /** The SHA-256 of the published file. */
  readonly sum: string;
  /** The SHA-256 of what is carried of it, for a file that is cut. */
  readonly cutSum?: string;
  /** The values that a case needs in order to be carried. Without them the whole file is carried. */
  readonly keep?: Readonly<Record<string, number>>;
  /** The number of cases in the published file, for a file that is cut. */
  readonly cases?: number;
}

export const carried: string;
export function readOrigins(folder: string): Map<string, Origin>;
export function readSums(folder: string): Map<string, string>;
export function sha256(bytes: Uint8Array): string;
export function cut(bytes: Buffer, keep: Origin['keep']): Buffer;
export function cutOrigins(
  folder: string,
  readOrigin: (place: string) => Buffer | Promise<Buffer>,
): Promise<{ files: Map<string, Buffer>; problems: string[] }>;
export function differences(folder: string, files: ReadonlyMap<string, Buffer>): string[];
