/** The form where the voice of a persona is edited. */
import {
  findViolations,
  resolvePointer,
  schemas,
  type Persona,
  type PersonaVoice,
} from '../../../contract/index.ts';
import type { Fact } from '../../../report-kit/fact-list.ts';
import { formatNumber } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import {
  describeNetwork,
  NETWORK_PRESET_NAMES,
  networkPresets,
} from '../../../voice/line-impairment/network-presets.ts';
import { findChanged, makeVersion, type Edit, type LabeledValues } from '../frame/edits.ts';
import { renderField, renderSelect } from '../frame/fields.ts';
import { readText, renderForm } from '../frame/forms.ts';
import type { PageContext } from '../frame/page-frame.ts';

/** A field of the form. Its name is its pointer in the voice, such as `/noise/kind`. */
interface VoiceField {
  pointer: `/${string}`;
  label: string;
  hint?: string;
  /** The values to choose from; the first one is the default, which is not stored. */
  choices?: readonly (readonly [value: string, name: string])[];
  isNumber?: boolean;
}

const OWN_NETWORK = '';

const FIELDS: readonly VoiceField[] = [
  {
    pointer: '/name',
    label: 'Voice',
    hint: 'A built-in voice (awb, kal, rms, or slt), or a voice of your speech endpoint.',
  },
  {
    pointer: '/speed',
    label: 'Speed',
    hint: 'Relative to the usual one.',
    isNumber: true,
  },
  {
    pointer: '/interruptions',
    label: 'Interrupts the agent',
    choices: [
      ['never', 'never'],
      ['rare', 'in 1 answer of 5'],
      ['often', 'in every other answer'],
    ],
  },
  {
    pointer: '/pauses',
    label: 'Hesitates inside sentences',
    choices: [
      ['none', 'never'],
      ['some', 'in 1 line of 3'],
      ['many', 'in every line'],
    ],
  },
  {
    pointer: '/noise/kind',
    label: 'Noise',
    choices: [
      ['quiet', 'none'],
      ['street', 'street'],
      ['cafe', 'café: other people talk'],
      ['line_hum', 'hum of a bad cable'],
    ],
  },
  {
    pointer: '/noise/snr_db',
    label: 'Speech louder than the noise by, in dB',
    hint: '20 if it is empty.',
    isNumber: true,
  },
  {
    pointer: '/network/loss_pct',
    label: 'Lost packets, in percent',
    isNumber: true,
  },
  {
    pointer: '/network/burst',
    label: 'Packets lost in a row, on average',
    hint: 'Empty: each packet is lost independently.',
    isNumber: true,
  },
  {
    pointer: '/network/jitter_ms',
    label: 'Delay of a packet, at most, in milliseconds',
    isNumber: true,
  },
  {
    pointer: '/network/bandwidth_kbps',
    label: 'Bandwidth, in kilobits per second',
    hint: 'Empty: unlimited.',
    isNumber: true,
  },
];

const PRESET_FIELD = 'preset';

/** Returns the hint of a field, for a number with its bounds in the schema. */
function describeField({ pointer, hint }: VoiceField): string | undefined {
  const inSchema = `/properties/voice${pointer.replaceAll('/', '/properties/')}`;
  const [minimum, maximum] = ['minimum', 'maximum'].map((bound) =>
    resolvePointer(schemas.Persona, `${inSchema}/${bound}`),
  );
  return typeof minimum === 'number' && typeof maximum === 'number'
    ? `${formatNumber(minimum, 1)} to ${formatNumber(maximum)}. ${hint ?? ''}`.trim()
    : hint;
}

/** What the form shows: the entered values and the problems, both by pointer. */
export interface VoiceDraft {
  values: ReadonlyMap<string, string>;
  problems: ReadonlyMap<string, string>;
  edit: Edit;
}

/** Returns the draft of the voice of a persona. */
export function voiceDraftOf({ voice = {} }: Persona): VoiceDraft {
  const values = FIELDS.flatMap(({ pointer }): [string, string][] => {
    const value = resolvePointer(voice, pointer);
    return typeof value === 'string' || typeof value === 'number' ? [[pointer, String(value)]] : [];
  });
  return { values: new Map(values), problems: new Map(), edit: { version: makeVersion(voice) } };
}

/** Returns values by the labels of their fields; what is empty is the default. */
const labelValues = (values: ReadonlyMap<string, string>): LabeledValues =>
  Object.fromEntries(
    FIELDS.map(({ pointer, label, choices }) => {
      const value = values.get(pointer) ?? '';
      const chosen = choices?.find(([choice]) => choice === value) ?? choices?.[0];
      return [label, chosen?.[1] ?? value];
    }),
  );

/** Reads the form. The persona is undefined if a value is invalid, or others were saved meanwhile. */
export function readVoiceForm(
  form: FormData,
  persona: Persona,
): { draft: VoiceDraft; persona: Persona | undefined } {
  const values = new Map(FIELDS.map(({ pointer }) => [pointer, readText(form, pointer)]));
  const preset = NETWORK_PRESET_NAMES.find((name) => name === readText(form, PRESET_FIELD));
  if (preset) {
    for (const { pointer } of FIELDS.filter((field) => field.pointer.startsWith('/network/'))) {
      const value = resolvePointer({ network: networkPresets[preset] }, pointer);
      values.set(pointer, typeof value === 'number' ? String(value) : '');
    }
  }
  const problems = new Map<string, string>();
  const voice: Record<string, unknown> = {};
  for (const field of FIELDS) {
    const value = readValue(field, values.get(field.pointer) ?? '');
    if (Number.isNaN(value)) problems.set(field.pointer, `${field.label} must be a number.`);
    else if (value !== undefined) put(voice, field.pointer, value);
  }
  addDefaultNoise(voice);
  const { voice: _before, ...others } = persona;
  const changed = { ...others, ...(Object.keys(voice).length > 0 && { voice }) };
  for (const { pointer, expected, received } of findViolations('Persona', changed)) {
    const field = FIELDS.find((candidate) => pointer === `/voice${candidate.pointer}`);
    if (!field || problems.has(field.pointer)) continue;
    problems.set(field.pointer, `${field.label} must be ${expected}, got ${received}.`);
  }
  const before = voiceDraftOf(persona);
  const savedMeanwhile = findChanged(form, before.edit.version, {
    saved: labelValues(before.values),
    entered: labelValues(values),
  });
  const draft = { values, problems, edit: { ...before.edit, changed: savedMeanwhile } };
  return { draft, persona: problems.size === 0 && !savedMeanwhile ? changed : undefined };
}

/** Returns the value to store; undefined for a default, NaN for a text that is not a number. */
function readValue({ choices, isNumber = false }: VoiceField, text: string) {
  if (text.trim() === '' || text === choices?.[0]?.[0]) return undefined;
  return isNumber ? Number(text) : text;
}

function put(voice: Record<string, unknown>, pointer: string, value: string | number): void {
  const [, first = '', second] = pointer.split('/');
  if (second === undefined) voice[first] = value;
  else voice[first] = { ...(voice[first] as object | undefined), [second]: value };
}

/** Noise needs a kind: a level alone belongs to no noise. */
function addDefaultNoise(voice: Record<string, unknown>): void {
  const { noise } = voice as PersonaVoice;
  if (noise && !('kind' in noise)) voice['noise'] = { kind: 'quiet', ...(noise as object) };
}

/** Renders the form of the voice, for readers who may change it. */
export function renderVoiceForm(
  context: PageContext,
  { action, draft }: { action: string; draft: VoiceDraft },
): Html | undefined {
  if (context.token === undefined) return undefined;
  const render = (field: VoiceField): Html => {
    const { pointer, label, choices } = field;
    const hint = describeField(field);
    const [value, problem] = [draft.values.get(pointer), draft.problems.get(pointer)];
    const shown = { name: pointer, label, hint, value, problem };
    return choices
      ? renderSelect(shown, choices)
      : renderField(shown, field.isNumber ? html`inputmode="decimal"` : undefined);
  };
  const preset = renderSelect(
    {
      name: PRESET_FIELD,
      label: 'Network to the agent',
      value: OWN_NETWORK,
      hint: 'A preset replaces the four values below.',
    },
    [
      [OWN_NETWORK, 'as below'],
      ...NETWORK_PRESET_NAMES.map((name) => [name, describeNetwork(name)] as const),
    ],
  );
  const ofNetwork = FIELDS.filter(({ pointer }) => pointer.startsWith('/network/'));
  const others = FIELDS.filter((field) => !ofNetwork.includes(field));
  return html`<details ${draft.problems.size > 0 || draft.edit.changed ? 'open' : ''}>
    <summary>Edit the voice</summary>
    ${renderForm(context, {
      action,
      edit: draft.edit,
      body: html`${others.map(render)} ${preset} ${ofNetwork.map(render)}
        <p><button>Save the voice</button></p>`,
    })}
  </details>`;
}

/** Returns the voice of a persona as facts for people; the defaults are omitted. */
export function listVoiceFacts(persona: Persona): Fact[] {
  const { values } = voiceDraftOf(persona);
  return FIELDS.flatMap(({ pointer, label, choices }): Fact[] => {
    const value = values.get(pointer);
    if (value === undefined) return [];
    return [[label, choices?.find(([choice]) => choice === value)?.[1] ?? value]];
  });
}
