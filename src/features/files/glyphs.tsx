/** Signs of players and of the viewer, which come with them: those of the icon set are loaded with the dashboard. */
const shapes = {
  play: 'M7 4.5v15l12.5-7.5z',
  pause: 'M6 4.5h4.5v15H6zM13.5 4.5H18v15h-4.5z',
  stop: 'M5.5 5.5h13v13h-13z',
} as const;

export function Glyph({ shape }: { shape: keyof typeof shapes }) {
  return (
    <svg viewBox="0 0 24 24" width="24" height="24" fill="currentColor" aria-hidden="true">
      <path d={shapes[shape]} />
    </svg>
  );
}
