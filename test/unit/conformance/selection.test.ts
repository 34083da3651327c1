/** The selection of requirements by id or pattern. */
import t from 'tap';
import { areas, idsOf, selectRequirements, SelectionError } from '../../../conformance/index.ts';

void t.test('--only keeps the areas of the selected requirements', (t) => {
  t.same(selectRequirements({ areas }), { areas });
  t.same(selectRequirements({ areas, only: ['chat-024', 'HEALTH-01*'] }), {
    areas: ['chat', 'health'],
    selected: ['CHAT-024', ...idsOf('health').filter((id) => id.startsWith('HEALTH-01'))],
  });
  const { areas: left, selected = [] } = selectRequirements({
    areas,
    skip: ['VOICE-*', 'CHAT-024'],
  });
  t.same(left, ['chat', 'health', 'users']);
  t.equal(selected.length, areas.slice(0, 3).flatMap(idsOf).length - 1);
  const both = selectRequirements({ areas, only: ['USERS-*'], skip: ['USERS-001'] });
  t.same(both.selected, idsOf('users').slice(1));
  t.end();
});

void t.test('an id that matches no requirement is an error with a suggestion', (t) => {
  const rows: [Parameters<typeof selectRequirements>[0], RegExp][] = [
    [
      { areas, only: ['CHAT-24'] },
      /^Unknown requirement "CHAT-24" \(--only\)\. Did you mean CHAT-024\?$/,
    ],
    [{ areas, skip: ['chat'] }, /^Unknown requirement "chat" \(--skip\)\. Did you mean CHAT-\*\?$/],
    [
      { areas, only: ['CHAT-9*'] },
      /^Unknown requirement "CHAT-9\*" \(--only\)\. Run sandbox-kit explain/,
    ],
    [{ areas, only: ['.*'] }, /^Unknown requirement "\.\*"/],
    [
      { areas: ['chat', 'health'], only: ['VOICE-001'] },
      /^"VOICE-001" \(--only\) is a requirement of voice, but this run checks only chat, health\. Did you mean --area chat,health,voice\?$/,
    ],
    [
      { areas, only: ['SERVICE-*'] },
      /of service, but this run checks only .* Did you mean --area service\?$/,
    ],
    [
      { areas, only: ['CLIENT-001'] },
      /is a requirement of clients of the service\. Judge a client with sandbox-kit exec --judge-client\.$/,
    ],
    [
      { areas: ['chat'], only: ['USERS-001'], recording: { selected: undefined } },
      /"USERS-001" \(--only\) is a requirement of users, but the recording has only chat\. Remove it\.$/,
    ],
    [
      { areas: ['chat'], only: ['CHAT-024'], recording: { selected: ['CHAT-001'] } },
      /"CHAT-024" \(--only\) was not selected when the run was recorded\. Remove it\.$/,
    ],
    [{ areas, only: ['CHAT-024'], skip: ['CHAT-*'] }, /^No requirement is left to judge\./],
    [
      { areas, only: ['CHAT-024'], requirementSet: { name: '0.1', ids: new Set(['CHAT-001']) } },
      /^Every selected requirement was added after the requirement set 0\.1, so none of them counts/,
    ],
  ];
  for (const [options, message] of rows) {
    t.throws(() => selectRequirements(options), { name: 'SelectionError', message });
  }
  t.ok(new SelectionError('x') instanceof Error);
  t.end();
});
