import type { EvalDefinition } from '../../../contract/index.ts';
import { formatCount, formatNumber } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import { csvColumns } from '../../operations/transcript-file/csv-rows.ts';
import { FILE_BYTES_MAX } from '../../operations/transcript-file/decode-text.ts';
import { FILE_LIMITS } from '../../operations/transcript-file/problems.ts';
import {
  transcriptFormats,
  type TranscriptFormat,
} from '../../operations/transcript-file/read-transcripts.ts';
import type { FieldProblems } from '../frame/field-problems.ts';
import {
  renderCheckbox,
  renderField,
  renderProblem,
  renderSelect,
  renderTextArea,
} from '../frame/fields.ts';
import { renderForm } from '../frame/forms.ts';
import { linkTo, renderServicePage, type PageContext } from '../frame/page-frame.ts';
import { PROBLEM_LIST_CSS, renderProblems, type FileReport } from './problem-list.ts';
import { samples } from './samples.ts';
import { renderItems } from '../../../report-kit/table.ts';

export const UPLOAD_PATH = '/transcripts';

/** What was entered in the form, and what is wrong with it. */
export interface UploadDraft {
  text: string;
  /** What the page could not keep, and needs again. */
  lost: 'file' | 'text' | undefined;
  format: TranscriptFormat | undefined;
  run: string;
  evalIds: readonly string[];
  /** Whether conversations with problems are left out. */
  leavesOut: boolean;
  problems: FieldProblems<'file' | 'run' | 'evals'>;
  /** What was found in the file, if it could be read. */
  report?: (FileReport & { valid: number }) | undefined;
}

/** The content of the page. */
export interface UploadForm {
  draft: UploadDraft;
  evals: readonly EvalDefinition[];
  liveEvals: readonly EvalDefinition[];
}

/** The texts that the page sends back for changes are at most so long, so that it loads fast. */
export const TEXT_KEPT_MAX = 50_000;

const EVALS_SHOWN_MAX = 200;
const FORMAT_NAMES: Record<TranscriptFormat, string> = { json: 'JSON', jsonl: 'JSONL', csv: 'CSV' };

/** Renders the page where transcripts are uploaded. */
export function renderUploadPage(form: UploadForm, context: PageContext): string {
  return renderServicePage(
    {
      title: 'Upload',
      css: CSS,
      main: html`<h1>Upload conversations</h1>
        <p>
          Upload finished conversations from another system. They become production sessions, and
          are scored like live traces.
        </p>
        ${renderReport(form.draft)} ${renderUploadForm(form, context)} ${renderFormats(context)}`,
    },
    context,
  );
}

/** Says how to send what the page could not keep again. */
const AGAIN = {
  file: 'choose the file again',
  text: 'paste the corrected text again, which is too long to be kept',
};

function renderReport({ report, lost }: UploadDraft): Html | undefined {
  if (!report) return undefined;
  const { valid, invalid, format, problemCount } = report;
  const next = lost ? AGAIN[lost] : 'correct the text below, or choose the corrected file';
  return html`<div class="remark" role="alert" tabindex="-1" autofocus>
      <p>
        <b>Nothing was stored.</b> The file was read as ${FORMAT_NAMES[format]}:
        ${formatCount(problemCount, 'problem')}, ${formatCount(valid, 'valid conversation')}, and
        ${formatNumber(invalid)} with problems.
      </p>
      <p>
        ${
          valid > 0
            ? html`To store only what is valid, ${lost ? html`${next},` : ''} tick "Skip the
              conversations with problems", and upload again.`
            : html`To go on, ${next}.`
        }
      </p>
    </div>
    <h2>Problems</h2>
    ${renderProblems(report)}`;
}

function renderUploadForm({ draft, evals, liveEvals }: UploadForm, context: PageContext): Html {
  const { text, lost, report, format, run, leavesOut, problems } = draft;
  const fileProblem =
    lost === 'file' && !report ? 'The page could not keep the file. Choose it again.' : undefined;
  const textProblem =
    lost === 'text'
      ? `The text is longer than ${TEXT_KEPT_MAX / 1000} kB, so the page could not keep it. Paste it again, or choose it as a file.`
      : undefined;
  return renderForm(context, {
    action: UPLOAD_PATH,
    hasFiles: true,
    body: html`${renderField(
        {
          name: 'file',
          label: 'File',
          type: 'file',
          problem: problems.file ?? fileProblem,
          hint: `JSON, JSONL, or CSV, in UTF-8, at most ${FILE_BYTES_MAX / 1e6} MB and ${formatNumber(FILE_LIMITS.conversations)} conversations.`,
        },
        html`accept=".json,.jsonl,.ndjson,.csv,.tsv,.txt"`,
      )}
      ${renderTextArea({
        name: 'text',
        label: 'Or paste text',
        value: text,
        rows: 6,
        hint: 'Ignored if a file is chosen.',
        problem: textProblem,
      })}
      ${renderSelect({ name: 'format', label: 'Format', value: format ?? '' }, [
        ['', 'Recognize it'],
        ...transcriptFormats.map((name) => [name, FORMAT_NAMES[name]] as const),
      ])}
      ${renderField(
        {
          name: 'run',
          label: 'Run',
          value: run,
          problem: problems.run,
          hint: 'For conversations that name no run. Default: Transcripts, with the date of the conversation.',
        },
        html`maxlength="200"`,
      )}
      ${renderEvals({ draft, evals, liveEvals }, context)}
      ${renderCheckbox(
        'leave_out',
        'Skip the conversations with problems, and store the valid ones',
        {
          isChecked: leavesOut,
        },
      )}
      <p><button>Upload</button></p>`,
  });
}

function renderEvals({ draft, evals, liveEvals }: UploadForm, context: PageContext): Html {
  if (evals.length === 0) {
    return html`<p>
      There are no evals yet, so the conversations are stored without scores.
      <a href="${linkTo(context, '/evals')}">Add an eval</a> first, or upload again later.
    </p>`;
  }
  const liveIds = liveEvals.map(({ id }) => id);
  const more = evals.length - EVALS_SHOWN_MAX;
  const { problems, evalIds } = draft;
  return html`<div role="group" aria-labelledby="evals-label" class="evals">
    <p id="evals-label">
      Evals
      <span class="soft"
        >For conversations that name none.
        ${liveIds.length === 0 ? 'If you choose none, they are stored without scores.' : 'Default: the live evals.'}</span
      >
    </p>
    <div class="choices">
      ${evals
        .slice(0, EVALS_SHOWN_MAX)
        .map(({ id, name }) =>
          renderCheckbox(
            'eval',
            html`${name}
              <span class="soft"><code>${id}</code>${liveIds.includes(id) ? ', live' : ''}</span>`,
            { value: id, isChecked: evalIds.includes(id) },
          ),
        )}
      ${more > 0 && html`<p class="soft">${formatCount(more, 'more eval')} can be named in the file.</p>`}
    </div>
    ${renderProblem(problems.evals)}
  </div>`;
}

function renderFormats(context: PageContext): Html {
  return html`<h2>Formats</h2>
    <p>
      All formats have the same fields. A conversation replaces the one with the same
      <code>session_id</code> in the same run, so the same file can be uploaded again.
    </p>
    ${renderItems({
      label: 'Fields',
      items: csvColumns,
      columns: [
        {
          name: 'field',
          content: ({ name, isRequired }) =>
            html`<code>${name}</code> ${isRequired && html`<span class="soft">required</span>`}`,
        },
        {
          name: 'belongs to',
          className: 'when',
          content: ({ isOfTurn }) => (isOfTurn ? 'turn' : 'conversation'),
        },
        { name: 'meaning', content: ({ meaning }) => meaning },
        { name: 'example', content: ({ example }) => html`<code>${example}</code>` },
      ],
    })}
    ${renderFormat('csv', context)} ${renderFormat('json', context)}
    ${renderFormat('jsonl', context)}`;
}

const DESCRIPTIONS: Record<TranscriptFormat, Html> = {
  csv: html`One row per turn; the first row names the columns, in any order. Cells are separated by
  commas, semicolons, or tabs. A value of the conversation is needed in only one of its rows.`,
  json: html`One conversation, or an array of them, each with a list of <code>turns</code>.`,
  jsonl: html`One conversation per line, each with a list of <code>turns</code>.`,
};

function renderFormat(format: TranscriptFormat, context: PageContext): Html {
  const name = FORMAT_NAMES[format];
  const link = linkTo(context, `${UPLOAD_PATH}/sample.${format}`);
  return html`<details ${format === 'csv' ? 'open' : ''}>
    <summary>${name}</summary>
    <p>${DESCRIPTIONS[format]}</p>
    <pre role="region" aria-label="Example of ${name}">${samples[format]}</pre>
    <p><a href="${link}" download>Download sample.${format}</a></p>
  </details>`;
}

const CSS = `${PROBLEM_LIST_CSS}
.choices { border: 1px solid var(--line); border-radius: 0.375rem; max-height: 14rem;
  overflow-y: auto; padding: 0.25rem 0.75rem; }
.evals p { margin: 0.75rem 0 0.2rem; }
#evals-label .soft { display: block; }
td code { overflow-wrap: anywhere; }
.choices label { overflow-wrap: anywhere; }`;
