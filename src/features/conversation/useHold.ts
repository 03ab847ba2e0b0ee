import { type PointerEvent, type TouchEvent, useEffect, useRef } from 'react';
import type { Point } from './menuAnchor.ts';

/** Milliseconds that a finger rests until it means something else than a tap. */
const holdMs = 450;
/** Pixels that it may tremble. */
const tremble = 10;

/** Handlers that call back when a finger has rested on their element; the pointer of a mouse has its other button. */
export function useHold(onHold: (point: Point, target: EventTarget) => void) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const begun = useRef<Point>({ clientX: 0, clientY: 0 });
  const isHeld = useRef(false);
  const end = () => clearTimeout(timer.current);
  useEffect(() => () => clearTimeout(timer.current), []);
  return {
    onPointerDown: ({ clientX, clientY, isPrimary, pointerType, target }: PointerEvent) => {
      end();
      isHeld.current = false;
      if (pointerType !== 'touch' || !isPrimary) return;
      begun.current = { clientX, clientY };
      timer.current = setTimeout(() => {
        isHeld.current = true;
        onHold({ clientX, clientY }, target);
      }, holdMs);
    },
    onPointerMove: ({ clientX, clientY }: PointerEvent) => {
      const far = Math.hypot(clientX - begun.current.clientX, clientY - begun.current.clientY);
      if (far > tremble) end();
    },
    onPointerUp: end,
    onPointerCancel: end,
    onTouchEnd: (event: TouchEvent) => {
      // A click where the finger leaves would close what it has opened.
      if (isHeld.current) event.preventDefault();
    },
  };
}
