import { findLiveEvals } from '../../evals/definitions.ts';
import { transcriptFormats } from '../../operations/transcript-file/read-transcripts.ts';
import {
  readUploadedFile,
  storeSessions,
  type TranscriptOptions,
} from '../../operations/transcripts.ts';
import { RequestError } from '../../requests/errors.ts';
import { findFieldProblems, isFlawless } from '../frame/field-problems.ts';
import { readLines, readText, readTexts } from '../frame/forms.ts';
import { servicePageHeaders } from '../frame/page-frame.ts';
import type { Pages } from '../frame/pages.ts';
import type { Viewer } from '../frame/viewer.ts';
import { renderResultPage, type UploadResult } from './result-page.ts';
import { samples } from './samples.ts';
import { renderUploadPage, TEXT_KEPT_MAX, UPLOAD_PATH, type UploadDraft } from './upload-page.ts';

const EMPTY_DRAFT: UploadDraft = {
  text: '',
  lost: undefined,
  format: undefined,
  run: '',
  evalIds: [],
  leavesOut: false,
  problems: {},
};

const PROBLEMS = { run: 'The name of a run has 1 to 200 characters, on one line.' };

const SAMPLE_TYPES = {
  json: 'application/json',
  jsonl: 'application/jsonl',
  csv: 'text/csv',
} as const;

/** Adds the page that stores transcripts from a file. */
export function addTranscriptRoutes({ app, page, form }: Pages, options: TranscriptOptions): void {
  page(UPLOAD_PATH, (visit) => renderDraft(options, visit, EMPTY_DRAFT));
  for (const format of transcriptFormats) {
    app.get(`${UPLOAD_PATH}/sample.${format}`, (_request, reply) =>
      reply
        .headers(servicePageHeaders)
        .header('content-disposition', `attachment; filename="sample.${format}"`)
        .type(`${SAMPLE_TYPES[format]}; charset=utf-8`)
        .send(samples[format]),
    );
  }
  form(UPLOAD_PATH, async (sent) => {
    const outcome = await upload(options, sent);
    if ('draft' in outcome) {
      const { status, draft } = outcome;
      return { status, page: await renderDraft(options, sent, draft) };
    }
    return renderResultPage(outcome.result, sent.context);
  });
}

async function renderDraft(
  { store }: TranscriptOptions,
  { ownerId, context }: Viewer,
  draft: UploadDraft,
): Promise<string> {
  const evals = await store.evals.list(ownerId);
  const { evals: liveEvals } = await findLiveEvals(store, ownerId);
  return renderUploadPage({ draft, evals, liveEvals }, context);
}

/** Stores the file or the text of a form, or returns what to show in the form instead. */
async function upload(
  options: TranscriptOptions,
  { ownerId, form }: Viewer & { form: FormData },
): Promise<{ result: UploadResult } | { draft: UploadDraft; status: number }> {
  const entered = readDraft(form);
  const { bytes, origin } = await readBytes(form);
  // Line breaks as in files.
  const text = bytes.length > TEXT_KEPT_MAX ? '' : decodeLoosely(bytes);
  const draft: UploadDraft = {
    ...entered,
    text,
    lost: text === '' && bytes.length > 0 ? origin : undefined,
    problems: await findMistakes(options, ownerId, { ...entered, isEmpty: bytes.length === 0 }),
  };
  if (!isFlawless(draft.problems)) return { draft, status: 400 };
  const { format, run, evalIds, leavesOut } = draft;
  try {
    const { items, ...report } = await readUploadedFile(options, ownerId, {
      bytes,
      format,
      run: run === '' ? undefined : run,
      evalIds: evalIds.length === 0 ? undefined : evalIds,
    });
    const canStore = items.length > 0 && (report.problemCount === 0 || leavesOut);
    if (!canStore)
      return { draft: { ...draft, report: { ...report, valid: items.length } }, status: 422 };
    return { result: { ...(await storeSessions(options, items)), report } };
  } catch (error) {
    if (!(error instanceof RequestError) || error.status >= 500) throw error;
    return { draft: { ...draft, problems: { file: error.message } }, status: 422 };
  }
}

function readDraft(form: FormData): UploadDraft {
  const format = readText(form, 'format');
  return {
    ...EMPTY_DRAFT,
    format: transcriptFormats.find((name) => name === format),
    run: readText(form, 'run'),
    evalIds: readTexts(form, 'eval'),
    leavesOut: readText(form, 'leave_out') !== '',
  };
}

/** Returns the chosen file, or else the pasted text with line breaks as in files. */
async function readBytes(form: FormData): Promise<{ bytes: Uint8Array; origin: 'file' | 'text' }> {
  const file = form.get('file');
  if (file instanceof File && file.size > 0) return { bytes: await file.bytes(), origin: 'file' };
  return { bytes: new TextEncoder().encode(readLines(form, 'text')), origin: 'text' };
}

/** Returns the text of a file for its correction; empty if the file is not text. */
function decodeLoosely(bytes: Uint8Array): string {
  try {
    return bytes.includes(0) ? '' : new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return '';
  }
}

async function findMistakes(
  { store }: TranscriptOptions,
  ownerId: string,
  { isEmpty, run, evalIds }: Pick<UploadDraft, 'run' | 'evalIds'> & { isEmpty: boolean },
): Promise<UploadDraft['problems']> {
  const knownIds = (await store.evals.list(ownerId)).map(({ id }) => id);
  const example = { session_id: 't-1', turns: [{ user_input: '', agent_response: '' }] };
  return {
    ...(isEmpty && { file: 'Choose a file that is not empty, or paste text.' }),
    ...(run !== '' && findFieldProblems('TranscriptUpload', { ...example, run }, PROBLEMS)),
    ...(evalIds.some((id) => !knownIds.includes(id)) && {
      evals: 'An eval that you chose was deleted. Choose again.',
    }),
  };
}
