import { join } from 'node:path';
import { makeFolder, writeBinaryFile } from './files.ts';

type CheckOptions = Parameters<typeof import('../../conformance/index.ts').check>[0];
type Audio = Parameters<NonNullable<NonNullable<CheckOptions['voice']>['onAudio']>>[1];
type Exchange = Parameters<NonNullable<CheckOptions['onExchange']>>[0];

const FLAG = '--save-audio';

/** What was said in the calls of a run, on its way to files. */
export interface CallRecordings {
  /** Told the audio of a call before the call itself, as the judge does. */
  onAudio: (step: string, audio: Audio) => void;
  /** Writes what was said in it, where it was a call. */
  onExchange: (exchange: Pick<Exchange, 'id' | 'step' | 'call'>) => void;
  /**
   * Says in one line what was written, and where.
   *
   * @throws {UsageError} about the first file that couldn't be: no run is lost for it half-way.
   */
  told: () => string;
}

/**
 * Writes each direction of each call by the number that the report has for it:
 * `054-conversation-sandbox.opus`. Makes the folder.
 *
 * @throws {UsageError} where it can't be made, or nothing can be written into it.
 */
export async function callRecordings(folder: string): Promise<CallRecordings> {
  makeFolder(folder, FLAG);
  const { writeOgg } = await import('../shared/opus/index.ts');
  const waiting = new Map<string, Audio>();
  const written = { files: 0, calls: 0 };
  let failure: Error | undefined;
  const write = (name: string, packets: readonly Buffer[]): void => {
    if (failure !== undefined || packets.every(({ length }) => length === 0)) return;
    try {
      writeBinaryFile(join(folder, `${name}.opus`), writeOgg(packets), FLAG);
      written.files += 1;
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
    }
  };
  return {
    onAudio: (step, audio) => waiting.set(step, audio),
    onExchange({ id, step, call }) {
      const audio = call && waiting.get(step);
      if (!audio) return;
      waiting.delete(step);
      const before = written.files;
      // Three digits, so that a listing has them in the order of the report.
      const name = `${String(id).padStart(3, '0')}-${step.replaceAll(/[^a-z0-9]+/gi, '-')}`;
      for (const side of ['sandbox', 'kit'] as const) write(`${name}-${side}`, audio[side]);
      if (written.files > before) written.calls += 1;
    },
    told() {
      if (failure !== undefined) throw failure;
      if (written.files === 0) return `No call had audio: nothing was written to ${folder}.`;
      const calls = `${written.calls} call${written.calls === 1 ? '' : 's'}`;
      return `The audio of ${calls} is in ${folder}, ${written.files} files NUMBER-STEP-SIDE.opus.`;
    },
  };
}
