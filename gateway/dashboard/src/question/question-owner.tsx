// Whose a question is: who may answer it, how many have to, and giving it to someone.
import { Button, Menu, NativeSelect } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { got } from '../api/client.ts';
import { useApi } from '../api/use-api.ts';
import { HostileText } from '../design/hostile-text.tsx';
import { Icon } from '../design/icons.tsx';
import { showFailure, showToast } from '../frame/toast-list.ts';
import { useMay, useViewer } from '../session/viewer.tsx';
import { useMemberName, useMembers } from './members.ts';
import classes from './question.module.css';
import { contentOf, type WholeQuestion } from './questions.ts';

interface QuestionOwnerProps {
  readonly question: WholeQuestion;
  readonly onChanged: () => void;
}

export function QuestionOwner({ question, onChanged }: QuestionOwnerProps) {
  const { user } = useViewer();
  const memberName = useMemberName();
  const content = contentOf(question);
  const mayAnswer = question.may_answer !== false;
  const mayAssign = useMay('member') || mayAnswer;
  const { assignee, needs, votes_given = 0 } = question;
  return (
    <div className={classes.owner}>
      <span>
        {assignee === null ? 'Given to no one' : assignee === user.id ? 'Yours' : 'Given to '}
        {assignee !== null && assignee !== user.id && <HostileText text={memberName(assignee)} max={100} />}
      </span>
      {needs !== undefined && (
        <span>
          {votes_given} of {needs} people have answered
        </span>
      )}
      {content?.to !== undefined && (
        <span>
          for <HostileText text={content.to.join(', ')} max={200} />
        </span>
      )}
      {mayAssign && <Assign question={question} onChanged={onChanged} />}
      {mayAnswer && <Delegate question={question} onChanged={onChanged} />}
    </div>
  );
}

function useActOnQuestion({ question, onChanged }: QuestionOwnerProps) {
  const { api } = useApi();
  const path = { params: { path: { id: question.id } } };
  return useMutation({
    mutationFn: (act: { readonly assignee: string | null } | { readonly to: string }) =>
      'to' in act
        ? got(api.POST('/api/questions/{id}/delegate', { ...path, body: act }))
        : got(api.POST('/api/questions/{id}/assign', { ...path, body: act })),
    onSuccess: onChanged,
  });
}

function Assign(props: QuestionOwnerProps) {
  const { user } = useViewer();
  const members = (useMembers().data ?? []).filter(({ disabled_at }) => disabled_at === null);
  const act = useActOnQuestion(props);
  const { assignee } = props.question;
  const assign = (to: string | null, words: string) =>
    act.mutate(
      { assignee: to },
      { onSuccess: () => showToast({ text: words }), onError: (error) => showFailure('Assign', error) },
    );
  return (
    <Menu position="bottom-start" width={260}>
      <Menu.Target>
        <Button
          variant="default"
          size="compact-sm"
          loading={act.isPending}
          rightSection={<Icon name="down" size={12} />}
        >
          Assign
        </Button>
      </Menu.Target>
      <Menu.Dropdown className={classes.people ?? ''}>
        {assignee !== user.id && <Menu.Item onClick={() => assign('me', 'The question is yours.')}>To me</Menu.Item>}
        {assignee !== null && (
          <Menu.Item onClick={() => assign(null, 'The question is no one’s.')}>To no one</Menu.Item>
        )}
        <Menu.Divider />
        {members
          .filter(({ id }) => id !== user.id && id !== assignee)
          .map(({ id, name, email }) => (
            <Menu.Item key={id} onClick={() => assign(id, `Given to ${name || email}.`)}>
              <HostileText text={name || email || id} max={80} />
            </Menu.Item>
          ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function Delegate(props: QuestionOwnerProps) {
  const { user } = useViewer();
  const members = (useMembers().data ?? []).filter(({ id, disabled_at }) => disabled_at === null && id !== user.id);
  const act = useActOnQuestion(props);
  const [isOpen, setOpen] = useState(false);
  const [to, setTo] = useState('');
  if (!isOpen) {
    return (
      <Button variant="default" size="compact-sm" onClick={() => setOpen(true)}>
        Delegate
      </Button>
    );
  }
  return (
    <form
      className={classes.delegate}
      onSubmit={(event) => {
        event.preventDefault();
        if (to === '') return;
        act.mutate(
          { to },
          {
            onSuccess() {
              showToast({ text: 'They may answer this question now. So may you.' });
              setOpen(false);
            },
            onError: (error) => showFailure('Delegate', error),
          },
        );
      }}
    >
      <NativeSelect
        aria-label="Who may answer it too"
        size="xs"
        autoFocus
        value={to}
        data={[
          { value: '', label: 'Let … answer' },
          ...members.map(({ id, name, email }) => ({ value: id, label: name || email || id })),
        ]}
        onChange={(event) => setTo(event.currentTarget.value)}
      />
      <Button type="submit" size="xs" variant="default" loading={act.isPending} disabled={to === ''}>
        Delegate
      </Button>
      <Button size="xs" variant="subtle" onClick={() => setOpen(false)}>
        Back
      </Button>
    </form>
  );
}
