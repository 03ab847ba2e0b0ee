/**
 * The one page of the origin of the keys at the top of a tab: there the person asks for storage that the browser doesn't
 * evict, which it grants to no frame. It opens no database, starts no worker, and takes no message.
 */

interface StoragePageOptions {
  /** The fragment of the address: `#`, then `language` and `theme` as in a query. */
  readonly look: string;
  readonly storage: Pick<StorageManager, 'persist' | 'persisted'>;
  readonly close: () => void;
}

type Outcome = 'kept' | 'refused' | 'failed';

const themes = ['light', 'dark'];

/** Fills the page of storage.html, and resolves once it says how the storage is kept now. */
export async function showStoragePage({ look, storage, close }: StoragePageOptions): Promise<void> {
  const { language, theme } = Object.fromEntries(new URLSearchParams(look.slice(1)));
  const templates = [...document.querySelectorAll('template')];
  const words = templates.find(({ lang }) => lang === language) ?? templates[0];
  const text = (name: string) => words?.content.querySelector(`[data-text="${name}"]`)?.textContent ?? '';
  const outcome = document.querySelector('#outcome');
  const button = document.querySelector('button');

  document.documentElement.lang = words?.lang ?? '';
  if (theme !== undefined && themes.includes(theme)) document.documentElement.dataset.theme = theme;
  for (const place of document.querySelectorAll('main [data-text]')) {
    place.textContent = text(place.getAttribute('data-text') ?? '');
  }
  let isKept = false;

  function tell(result: Outcome | null): void {
    isKept = result === 'kept';
    if (outcome !== null) outcome.textContent = result === null ? '' : text(result);
    if (button !== null) button.textContent = text(isKept ? 'close' : 'ask');
  }

  async function ask(): Promise<void> {
    try {
      tell((await storage.persist()) ? 'kept' : 'refused');
    } catch {
      tell('failed');
    }
  }

  button?.addEventListener('click', () => (isKept ? close() : void ask()));
  tell((await storage.persisted().catch(() => false)) ? 'kept' : null);
}
