// The server's interface, one call a route. Every failure is one sentence for the reader.

import { checkedMap, checkedReply, checkedStep, checkedTranscript, isRecord } from './check';
import type { AnyMap, Caption, Example, ImageMap, Info, Mechanism, Question, Reply, StepQuestion, StepReply, Transcript } from './contract';

const kPatience = 60_000; // milliseconds

export class Refused extends Error {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}

async function ask(path: string, body?: unknown, signal?: AbortSignal): Promise<unknown> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), kPatience);
  const stop = () => limit.abort();
  signal?.addEventListener('abort', stop);
  try {
    const response = await fetch(path, {
      ...(body === undefined
        ? {}
        : {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify(body),
          }),
      signal: limit.signal,
    });
    const reply: unknown = await response.json().catch(() => undefined);
    if (!response.ok) {
      const told = isRecord(reply) && typeof reply.error === 'string' ? reply.error : '';
      throw new Refused(told || `the server answered ${response.status}`, response.status);
    }
    if (reply === undefined) throw new Refused('the server did not answer with JSON', response.status);
    return reply;
  } catch (error) {
    if (error instanceof Refused || signal?.aborted) throw error;
    if (limit.signal.aborted) throw new Refused('the server took longer than a minute', 0);
    throw new Refused('the server cannot be reached; is `attn serve` still running?', 0);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}

function list(reply: unknown, name: string): unknown[] {
  const found = isRecord(reply) ? reply[name] : undefined;
  if (!Array.isArray(found)) throw new Refused(`the server's answer has no ${name}`, 200);
  return found;
}

export async function info(): Promise<Info> {
  const reply = await ask('./api/info');
  list(reply, 'tasks');
  return reply as Info;
}

export async function answer(question: Question, signal: AbortSignal): Promise<Reply> {
  const reply = await ask('./api/answer', question, signal);
  if (!isRecord(reply) || reply.map === undefined) list(reply, 'answers');
  return checkedReply(reply);
}

/** `sound`: a WAV file in base64. The task has a path of its own, which takes more bytes. */
export async function transcribe(task: string, sound: string, model: string, signal: AbortSignal): Promise<Transcript> {
  return checkedTranscript(await ask(`./api/${task}`, { sound, ...(model ? { model } : {}) }, signal));
}

export async function step(question: StepQuestion, signal: AbortSignal): Promise<StepReply> {
  return checkedStep(await ask('./api/step', question, signal));
}

export async function liveExamples(): Promise<Example[]> {
  return list(await ask('./api/live'), 'examples') as Example[];
}

export async function live(
  name: string,
  values: Record<string, number>,
  signal: AbortSignal,
): Promise<AnyMap> {
  return checkedMap(await ask('./api/live', { name, values }, signal));
}

export async function mechanisms(): Promise<Mechanism[]> {
  const reply = await ask('./api/mechanisms');
  return Array.isArray(reply) ? (reply as Mechanism[]) : (list(reply, 'mechanisms') as Mechanism[]);
}

export async function caption(
  pixels: string,
  attention: string,
  signal: AbortSignal,
): Promise<Caption> {
  const reply = await ask('./api/caption', { pixels, attention }, signal);
  if (!isRecord(reply) || typeof reply.text !== 'string') {
    throw new Refused("the server's answer has no caption", 200);
  }
  const map = checkedMap(reply.map);
  if (map.kind !== 'image') throw new Refused("the server's answer has no picture", 200);
  return { ...(reply as unknown as Caption), map: map as ImageMap };
}
