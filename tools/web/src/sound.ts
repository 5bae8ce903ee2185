// Sounds in the browser: a microphone or a file becomes 16 kHz mono samples, and those a WAV file.

export const kRate = 16_000;
const kHead = 44; // bytes in front of the samples

/** Any sound that the browser knows, one channel at kRate. */
export async function decoded(bytes: ArrayBuffer): Promise<Float32Array<ArrayBuffer>> {
  let sound: AudioBuffer;
  try {
    // A context brings what it decodes to its own rate.
    sound = await new OfflineAudioContext(1, 1, kRate).decodeAudioData(bytes);
  } catch {
    throw new Error('this browser cannot read it as a sound');
  }
  const mean = new Float32Array(sound.length);
  for (let channel = 0; channel < sound.numberOfChannels; ++channel) {
    sound.getChannelData(channel).forEach((sample, at) => (mean[at] += sample / sound.numberOfChannels));
  }
  return mean;
}

/** Seconds of sound in a WAV file of so many bytes. */
export function secondsIn(bytes: number): number {
  return Math.floor((bytes - kHead) / 2 / kRate);
}

/** Samples of 16 bits. */
export function wavFile(samples: Float32Array): Uint8Array {
  const bytes = new Uint8Array(kHead + 2 * samples.length);
  const view = new DataView(bytes.buffer);
  const text = (at: number, word: string) => [...word].forEach((letter, i) => view.setUint8(at + i, letter.charCodeAt(0)));
  text(0, 'RIFF');
  view.setUint32(4, bytes.length - 8, true);
  text(8, 'WAVEfmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true); // plain samples
  view.setUint16(22, 1, true); // channels
  view.setUint32(24, kRate, true);
  view.setUint32(28, 2 * kRate, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  text(36, 'data');
  view.setUint32(40, 2 * samples.length, true);
  samples.forEach((sample, at) => view.setInt16(kHead + 2 * at, Math.round(32767 * Math.min(1, Math.max(-1, sample))), true));
  return bytes;
}

export function base64(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}

/** Why there is no microphone to ask for; undefined: there may be one. */
export function noMicrophone(): string | undefined {
  if (!window.isSecureContext) return 'A browser gives its microphone to pages of this machine (127.0.0.1) or over https alone; a file can be chosen.';
  if (!navigator.mediaDevices?.getUserMedia || typeof MediaRecorder === 'undefined') return 'This browser cannot record; a file can be chosen.';
  return undefined;
}

/** What the microphone hears from start() to stop(). */
export class Recorder {
  private stream: MediaStream | undefined;
  private recorder: MediaRecorder | undefined;
  private context: AudioContext | undefined;
  private readonly parts: Blob[] = [];

  /** `heard` gets how loud it is, 0 to 1, several times a second. */
  async start(heard: (loudness: number) => void): Promise<void> {
    try {
      this.stream = await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1 } });
    } catch (error) {
      const name = (error as DOMException).name;
      throw new Error(name === 'NotAllowedError' ? 'the microphone was not allowed' : name === 'NotFoundError' ? 'there is no microphone' : (error as Error).message);
    }
    this.recorder = new MediaRecorder(this.stream);
    this.recorder.addEventListener('dataavailable', ({ data }) => this.parts.push(data));
    this.recorder.start();
    this.context = new AudioContext();
    const analyser = this.context.createAnalyser();
    this.context.createMediaStreamSource(this.stream).connect(analyser);
    const samples = new Float32Array(analyser.fftSize);
    const look = () => {
      if (this.recorder?.state !== 'recording') return;
      analyser.getFloatTimeDomainData(samples);
      heard(Math.min(1, 4 * Math.sqrt(samples.reduce((sum, x) => sum + x * x, 0) / samples.length)));
      setTimeout(look, 80);
    };
    look();
  }

  /** The recording as the browser keeps it. */
  async stop(): Promise<ArrayBuffer> {
    const recorder = this.recorder;
    if (!recorder) throw new Error('nothing was recorded');
    if (recorder.state !== 'inactive') {
      const ended = new Promise((resolve) => recorder.addEventListener('stop', resolve, { once: true }));
      recorder.stop();
      await ended;
    }
    this.stream?.getTracks().forEach((track) => track.stop());
    await this.context?.close();
    return new Blob(this.parts).arrayBuffer();
  }
}

let speaker: AudioContext | undefined;

/** Lets a part be heard, with a little around it. */
export function play(samples: Float32Array<ArrayBuffer>, begin: number, end: number): void {
  const kAround = 0.05; // seconds
  speaker ??= new AudioContext();
  const buffer = speaker.createBuffer(1, Math.max(1, samples.length), kRate);
  buffer.copyToChannel(samples, 0);
  const source = speaker.createBufferSource();
  source.buffer = buffer;
  source.connect(speaker.destination);
  const from = Math.max(0, begin - kAround);
  source.start(0, from, Math.max(0.1, end + kAround - from));
}
