export interface Origin {
  /** Owner, name, commit and path of the published file. */
  readonly place: string;
  /** Its SHA-256. */
  readonly sum: string;
  /** What the cases have that are carried. Without it the whole file is. */
  readonly keep?: Readonly<Record<string, number>>;
  /** How many the published file holds, where it is cut. */
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
