import { type PointerEvent, type RefObject, useEffect, useRef, useState } from 'react';

const largest = 8;
/** The factor of one press of a button or key. */
const step = 1.5;
/** Pixels that a key moves an enlarged picture by. */
const keyMove = 80;

export interface Zoom {
  /** 1 for the whole picture. */
  readonly scale: number;
  /** Pixels from the middle. */
  readonly x: number;
  readonly y: number;
}

const whole: Zoom = { scale: 1, x: 0, y: 0 };

interface Point {
  readonly x: number;
  readonly y: number;
}

/**
 * Enlarges what is in the middle of a box, around a point of it, and keeps it within reach.
 * @param around in pixels from the middle of the box
 */
export function zoomed(
  before: Zoom,
  factor: number,
  around: Point,
  box: { width: number; height: number },
): Zoom {
  const scale = Math.min(largest, Math.max(1, before.scale * factor));
  const by = scale / before.scale;
  return bounded(
    { scale, x: around.x - (around.x - before.x) * by, y: around.y - (around.y - before.y) * by },
    box,
  );
}

/** At most half of what stands out of the box on each side. */
function bounded({ scale, x, y }: Zoom, { height, width }: { width: number; height: number }): Zoom {
  if (scale === 1) return whole;
  const within = (value: number, side: number) => {
    const most = (side * (scale - 1)) / 2;
    return Math.min(most, Math.max(-most, value));
  };
  return { scale, x: within(x, width), y: within(y, height) };
}

/** Zoom and place of a picture by wheel, pointers, and the functions that are returned. */
export function useZoom(box: RefObject<HTMLElement | null>, shown: string | null) {
  const [zoom, setZoom] = useState(whole);
  const pointers = useRef(new Map<number, Point>());
  // Another picture is seen whole at first.
  // oxlint-disable-next-line react/exhaustive-deps
  useEffect(() => setZoom(whole), [shown]);

  function fromMiddle({ clientX, clientY }: { clientX: number; clientY: number }): Point {
    const { height = 0, left = 0, top = 0, width = 0 } = box.current?.getBoundingClientRect() ?? {};
    return { x: clientX - left - width / 2, y: clientY - top - height / 2 };
  }
  const sides = () => ({ width: box.current?.clientWidth ?? 0, height: box.current?.clientHeight ?? 0 });
  const by = (factor: number, around: Point = { x: 0, y: 0 }) =>
    setZoom((before) => zoomed(before, factor, around, sides()));
  const move = (x: number, y: number) =>
    setZoom((before) => bounded({ ...before, x: before.x + x, y: before.y + y }, sides()));

  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const onWheel = (event: WheelEvent) => {
      // The browser would enlarge the page.
      event.preventDefault();
      by(event.deltaY < 0 ? 1.15 : 1 / 1.15, fromMiddle(event));
    };
    element.addEventListener('wheel', onWheel, { passive: false });
    return () => element.removeEventListener('wheel', onWheel);
  });

  function onPointerMove(event: PointerEvent): void {
    const before = pointers.current.get(event.pointerId);
    if (before === undefined) return;
    const now = fromMiddle(event);
    const [other] = [...pointers.current].filter(([id]) => id !== event.pointerId).map(([, point]) => point);
    pointers.current.set(event.pointerId, now);
    if (other === undefined) return move(now.x - before.x, now.y - before.y);
    const apart = (point: Point) => Math.hypot(point.x - other.x, point.y - other.y);
    const middle = { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 };
    by(apart(now) / Math.max(1, apart(before)), middle);
  }
  const onPointerEnd = ({ pointerId }: PointerEvent) => void pointers.current.delete(pointerId);

  return {
    zoom,
    larger: () => by(step),
    smaller: () => by(1 / step),
    reset: () => setZoom(whole),
    move: (right: number, down: number) => move(-right * keyMove, -down * keyMove),
    pointers: {
      onPointerDown: (event: PointerEvent) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        pointers.current.set(event.pointerId, fromMiddle(event));
      },
      onPointerMove,
      onPointerUp: onPointerEnd,
      onPointerCancel: onPointerEnd,
    },
  };
}
