import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type FileSink, openFile } from '#src/lib/fileSink.ts';

const file = { name: 'data.json', type: 'application/json' };
const held = window as { showSaveFilePicker?: unknown };

async function opened(): Promise<FileSink> {
  const sink = await openFile(file);
  if (sink === null) throw new Error('no file');
  return sink;
}

function refusing(name: string) {
  return () => Promise.reject(new DOMException('', name));
}

/** Files that the browser was given to download, by name. */
let downloads: Map<string, Blob>;

beforeEach(() => {
  downloads = new Map();
  const blobs = new Map<string, Blob>();
  vi.spyOn(URL, 'createObjectURL').mockImplementation((blob) => {
    const address = `blob:${blobs.size}`;
    blobs.set(address, blob as Blob);
    return address;
  });
  vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
    const blob = blobs.get(this.href);
    if (blob !== undefined) downloads.set(this.download, blob);
  });
});

afterEach(() => {
  delete held.showSaveFilePicker;
  vi.restoreAllMocks();
});

describe('a file where the browser can not ask for a place', () => {
  it('is downloaded only when it is complete', async () => {
    const sink = await opened();
    await sink.write('{"a":');
    await sink.write('"ä"}');
    expect(downloads.size).toBe(0);
    await sink.close();
    const blob = downloads.get('data.json');
    expect(blob?.type).toBe('application/json');
    expect(await blob?.text()).toBe('{"a":"ä"}');
  });

  it('is not downloaded when it was given up', async () => {
    const sink = await opened();
    await sink.write('secret');
    await sink.abort();
    expect(downloads.size).toBe(0);
  });
});

describe('a file where the browser can ask', () => {
  it('is asked for by name and kind, and written in place', async () => {
    const stream = {
      write: vi.fn<FileSink['write']>(),
      close: vi.fn<FileSink['close']>(),
      abort: vi.fn<FileSink['abort']>(),
    };
    const picker = vi.fn<(options: object) => Promise<unknown>>();
    held.showSaveFilePicker = picker.mockResolvedValue({ createWritable: async () => stream });
    const sink = await opened();
    expect(picker).toHaveBeenCalledExactlyOnceWith({
      suggestedName: 'data.json',
      startIn: 'downloads',
      types: [{ accept: { 'application/json': ['.json'] } }],
    });
    await sink.write('{}');
    await sink.close();
    expect(stream.write).toHaveBeenCalledExactlyOnceWith('{}');
    expect(stream.close).toHaveBeenCalledOnce();
    expect(downloads.size).toBe(0);
  });

  it('is null when the person closes the dialog', async () => {
    held.showSaveFilePicker = refusing('AbortError');
    expect(await openFile(file)).toBeNull();
  });

  it('is a download when the dialog is not allowed', async () => {
    held.showSaveFilePicker = refusing('SecurityError');
    const sink = await opened();
    await sink.write('{}');
    await sink.close();
    expect(await downloads.get('data.json')?.text()).toBe('{}');
  });
});
