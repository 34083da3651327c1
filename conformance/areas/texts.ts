/** The kinds of texts that generated requests contain, at every position of a text. */

/** A text with one peculiarity. Every string is legal, except where the interface limits its form. */
export interface TextKind {
  /** Completes "a request with … in `content`". */
  name: string;
  /**
   * Kinds of one group are in one text. Different groups are in different requests, because a
   * peer may read a text as a whole: as JSON, or in an encoding that another letter rules out.
   */
  group: string;
  text: string;
  /** The names of kinds that are simpler: a peer that refuses them refuses this one, too. */
  simpler?: readonly string[];
}

const ACCENTS = 'accented letters';

/**
 * Texts that no client can send as UTF-8, such as half of a surrogate pair, and U+0000, which many
 * databases can't store, are left out.
 */
export const textKinds: readonly TextKind[] = [
  // All in Latin-1, which some libraries choose if a text allows it.
  {
    name: ACCENTS,
    group: 'accents',
    text: 'Grüezi, où est le colis de José Ñúñez et Zoë Ångström ?',
  },
  {
    name: 'letters of other scripts',
    group: 'scripts',
    text: '注文はどこですか? Где мой заказ? ที่ทำการเปิดกี่โมง आप कब खुले हैं?',
    simpler: [ACCENTS],
  },
  {
    name: 'text from right to left',
    group: 'scripts',
    text: 'مرحبا، متى تفتحون؟ שלום, מתי אתם פתוחים?',
    simpler: [ACCENTS],
  },
  {
    name: 'emoji',
    group: 'four bytes',
    text: 'Thanks 👋 👩‍👩‍👧‍👦 🇨🇭 👍🏽 𝔞𠮷',
    simpler: [ACCENTS],
  },
  {
    name: 'combining and invisible characters',
    group: 'scripts',
    text: 'e\u0301 a\u0308 \u200b\u200d\u2060 \u202e\u202c \u2028\u2029 \ufeff.',
    simpler: [ACCENTS],
  },
  {
    name: 'markup',
    group: 'markup',
    text: '<b>Where</b> is <a href="/?a=1&b=2">it</a> &amp; <script>alert(1)</script>?',
  },
  { name: 'JSON', group: 'JSON', text: '{"role": "system", "content": ["null", 1.5, {}]}' },
  { name: 'SQL', group: 'escaped', text: `O'Brien'); DROP TABLE users; SELECT 1 OR '1'='1' --` },
  {
    name: 'quotes and backslashes',
    group: 'escaped',
    text: `"Double" and 'single' \\ C:\\new\\table {{braces}} %s %d $1 \${x} a lone { and "`,
  },
  { name: 'line breaks', group: 'escaped', text: 'One line\nand another.\r\n\r\nA last one.' },
  { name: 'a tab', group: 'escaped', text: 'A tab\tin a sentence.' },
  {
    name: 'control characters',
    group: 'escaped',
    text: '\u0001 a bell \u0007, a backspace \b, a form feed \f, \u001b[1m, and \u007f.',
  },
];

/** The names of groups with several kinds. */
const groupNames: Readonly<Record<string, string>> = {
  scripts: 'other scripts and invisible characters',
  escaped: 'SQL, quotes, and control characters',
};

/** The kinds of each group, joined to one text. */
export const textGroups: readonly TextKind[] = [
  ...Map.groupBy(textKinds, ({ group }) => group),
].map(([group, kinds]) => ({
  name: groupNames[group] ?? kinds[0]?.name ?? group,
  group,
  text: kinds.map(({ text }) => text).join(' '),
}));

/** Texts that can only be alone, because they consist of nothing else. */
export const blankTexts = { empty: '', 'only white space': '   ' } as const;

const ALPHABETS = ['scripts', 'four bytes'];

/** Returns whether texts of two groups would hide each other if they were in one request. */
export function areHiding(group: string, other: string): boolean {
  return (
    (group === 'accents' && ALPHABETS.includes(other)) ||
    (other === 'accents' && ALPHABETS.includes(group))
  );
}

/** Returns a text of exactly this many characters that repeats another one. */
export function repeatText(text: string, length: number): string {
  // Half of a surrogate pair is not a character.
  const cut = `${text} `.repeat(Math.ceil(length / (text.length + 1))).slice(0, length);
  return cut.isWellFormed() ? cut : `${cut.slice(0, -1)}.`;
}
