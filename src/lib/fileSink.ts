/** A file on the person's device that is written piece by piece. */
export interface FileSink {
  /** Resolves when there is room for more. */
  write(piece: string | ArrayBuffer): Promise<void>;
  /** The file is whole: only now is it there for others. */
  close(): Promise<void>;
  /** Nothing of what was written stays. */
  abort(): Promise<void>;
}

export interface NewFile {
  /** With its extension. */
  readonly name: string;
  /** Media type without parameters. */
  readonly type: string;
}

interface SaveFilePicker {
  (options: {
    suggestedName: string;
    startIn: 'downloads';
    types: { accept: Record<string, string[]> }[];
  }): Promise<FileSystemFileHandle>;
}

/**
 * Asks the person where to save a file, where the browser can ask, and else makes a download of it. Call it from what
 * a click has started.
 * @returns null when the person wants no file after all
 */
export async function openFile(file: NewFile): Promise<FileSink | null> {
  const { showSaveFilePicker } = window as { showSaveFilePicker?: SaveFilePicker };
  if (showSaveFilePicker === undefined) return downloadSink(file);
  const extension = file.name.slice(file.name.lastIndexOf('.'));
  try {
    const handle = await showSaveFilePicker({
      suggestedName: file.name,
      startIn: 'downloads',
      types: [{ accept: { [file.type]: [extension] } }],
    });
    return await handle.createWritable();
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return null;
    // The browser has the dialog and doesn't allow it here, or not without another click.
    return downloadSink(file);
  }
}

/** The local day, as the name of a file has it. */
export function dayInFileName(now: Date): string {
  return [now.getFullYear(), now.getMonth() + 1, now.getDate()]
    .map((part) => String(part).padStart(2, '0'))
    .join('-');
}

/** The browser reads the file after the click. */
const downloadReadMs = 60_000;

/** Pieces that the browser keeps, on disk when they are many; none of them is ever in one string. */
function downloadSink({ name, type }: NewFile): FileSink {
  let parts: Blob[] = [];
  return {
    write: async (piece) => void parts.push(new Blob([piece])),
    async close() {
      const address = URL.createObjectURL(new Blob(parts, { type }));
      parts = [];
      const link = document.createElement('a');
      link.href = address;
      link.download = name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(address), downloadReadMs);
    },
    abort: async () => void (parts = []),
  };
}
