/** Signs of players and of the viewer, which come with them: those of the icon set are loaded with the dashboard. */
const shapes = {
  play: 'M7 4.5v15l12.5-7.5z',
  pause: 'M6 4.5h4.5v15H6zM13.5 4.5H18v15h-4.5z',
  stop: 'M5.5 5.5h13v13h-13z',
  minus: 'M5 11h14v2H5z',
  plus: 'M11 5h2v6h6v2h-6v6h-2v-6H5v-2h6z',
  whole: 'M4 4h6v2H6v4H4zM14 4h6v6h-2V6h-4zM4 14h2v4h4v2H4zM18 14h2v6h-6v-2h4z',
  previous: 'M15 5l1.5 1.5L11 12l5.5 5.5L15 19l-7-7z',
  picture: 'M4 5h16v14H4zM6 7v8l4-4 3 3 2-2 3 3V7zM14.5 8h2v2h-2z',
  next: 'M9 5L7.5 6.5 13 12l-5.5 5.5L9 19l7-7z',
} as const;

export function Glyph({ shape }: { shape: keyof typeof shapes }) {
  return (
    <svg viewBox="0 0 24 24" width="24" height="24" fill="currentColor" aria-hidden="true">
      <path d={shapes[shape]} />
    </svg>
  );
}
