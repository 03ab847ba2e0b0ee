import { encodeQR } from 'qr';
import { useMemo } from 'react';
import { VisuallyHidden } from '../../ui/VisuallyHidden.tsx';
import styles from './QrCode.module.css';

/** Modules of quiet ground that readers need around a code. */
const border = 4;

/** A QR code as one path of squares. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const { path, size } = useMemo(() => drawing(text), [text]);
  return (
    <span>
      <VisuallyHidden>{label}</VisuallyHidden>
      <svg
        className={styles.code}
        viewBox={`0 0 ${size} ${size}`}
        aria-hidden="true"
        shapeRendering="crispEdges"
      >
        <path d={path} fill="currentColor" />
      </svg>
    </span>
  );
}

function drawing(text: string): { path: string; size: number } {
  const rows = encodeQR(text, 'raw', { ecc: 'medium', border });
  const path = rows
    .flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
    .join('');
  return { path, size: rows.length };
}
