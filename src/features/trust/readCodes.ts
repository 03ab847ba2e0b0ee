const intervalMs = 250;
/** Pixels across; enough for a code that fills a third of the picture. */
const pictureWidth = 640;

interface ScanListeners {
  onCode: (text: string) => void;
  /** There is no camera, or it may not be used. */
  onDenied: () => void;
}

/** Shows the camera in a video element and reads QR codes from it. @returns a function that ends it */
export function readCodes(video: HTMLVideoElement, { onCode, onDenied }: ScanListeners): () => void {
  let stream: MediaStream | null = null;
  let timer: ReturnType<typeof setInterval> | undefined;
  let ended = false;

  async function begin(): Promise<void> {
    // Few people ever scan: the reader is loaded with the camera.
    const [{ decodeQR }, opened] = await Promise.all([
      import('qr/decode.js'),
      navigator.mediaDevices.getUserMedia({ video: { facingMode: 'environment' }, audio: false }),
    ]);
    stream = opened;
    if (ended) return stop();
    video.srcObject = opened;
    await video.play();
    const canvas = document.createElement('canvas');
    const context = canvas.getContext('2d', { willReadFrequently: true });
    timer = setInterval(() => {
      if (context === null || video.videoWidth === 0) return;
      canvas.width = pictureWidth;
      canvas.height = Math.round((pictureWidth * video.videoHeight) / video.videoWidth);
      context.drawImage(video, 0, 0, canvas.width, canvas.height);
      try {
        onCode(decodeQR(context.getImageData(0, 0, canvas.width, canvas.height)));
      } catch {
        // No code in this picture.
      }
    }, intervalMs);
  }

  function stop(): void {
    ended = true;
    clearInterval(timer);
    for (const track of stream?.getTracks() ?? []) track.stop();
    video.srcObject = null;
  }

  begin().catch(() => {
    if (!ended) onDenied();
    stop();
  });
  return stop;
}

/** Returns whether the browser can be asked for a camera. */
export function canScan(): boolean {
  return typeof navigator.mediaDevices?.getUserMedia === 'function';
}
