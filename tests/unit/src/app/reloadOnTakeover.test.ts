import { expect, it, vi } from 'vitest';
import { reloadOnTakeover } from '#src/app/reloadOnTakeover.ts';

function tab({ controller = {} }: { controller?: object | null } = {}) {
  const container = Object.assign(new EventTarget(), { controller });
  const reload = vi.fn<() => void>();
  reloadOnTakeover(container as unknown as ServiceWorkerContainer, reload);
  const changeController = () => container.dispatchEvent(new Event('controllerchange'));
  const tell = (data: unknown) => container.dispatchEvent(new MessageEvent('message', { data }));
  return { changeController, reload, tell };
}

it('reloads the tab once when another version has taken over', () => {
  const { changeController, reload, tell } = tab();
  expect(reload).not.toHaveBeenCalled();
  changeController();
  tell({ type: 'takeover' });
  changeController();
  expect(reload).toHaveBeenCalledOnce();
});

it('reloads a tab that gets only the takeover message', () => {
  const { reload, tell } = tab();
  tell({ type: 'refused' });
  tell('something else');
  expect(reload).not.toHaveBeenCalled();
  tell({ type: 'takeover' });
  expect(reload).toHaveBeenCalledOnce();
});

it('a page does not reload for its first version', () => {
  const { changeController, reload, tell } = tab({ controller: null });
  changeController();
  tell({ type: 'takeover' });
  expect(reload).not.toHaveBeenCalled();
});

it('a page stays where the browser’s storage is deleted, and loads again for a version that comes after that', () => {
  const container: EventTarget & { controller: object | null } = Object.assign(new EventTarget(), {
    controller: {},
  });
  const reload = vi.fn<() => void>();
  reloadOnTakeover(container as unknown as ServiceWorkerContainer, reload);
  container.controller = null;
  container.dispatchEvent(new Event('controllerchange'));
  expect(reload).not.toHaveBeenCalled();
  container.controller = {};
  container.dispatchEvent(new Event('controllerchange'));
  expect(reload).toHaveBeenCalledOnce();
});
