let playing: HTMLMediaElement | null = null;

/** Called as an element begins to play: whichever played before stops, since nobody listens to two. */
export function onlyOnePlays(element: HTMLMediaElement): void {
  if (playing !== element) playing?.pause();
  playing = element;
}
