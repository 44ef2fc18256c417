// The keys of the page, opened by `?`.
import { Modal } from '@mantine/core';
import { type KeyHelp, useAllKeyHelp } from '../keyboard/help.tsx';
import { useSingleKeys } from '../keyboard/single-keys.ts';
import classes from './help.module.css';

const EVERYWHERE: readonly KeyHelp[] = [
  { keys: 'Ctrl K', does: 'Find a page, a method, a run or an action' },
  { keys: '/', does: 'Go to the filter' },
  { keys: '?', does: 'Show this' },
];

export function Help({ onClose }: { readonly onClose: () => void }) {
  const parts = useAllKeyHelp();
  const act = useSingleKeys();
  return (
    <Modal opened onClose={onClose} title="Keys" size="sm">
      {[{ title: 'Everywhere', keys: EVERYWHERE }, ...parts].map(({ title, keys }) => (
        <section key={title} className={classes.part}>
          <h2>{title}</h2>
          <dl>
            {keys.map((each) => (
              <div key={each.keys}>
                <dt>
                  {each.keys.split(' ').map((key) => (
                    <kbd key={key}>{key}</kbd>
                  ))}
                </dt>
                <dd>{each.does}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
      <p className={classes.note}>
        Single keys act only in a focused list. They are switched {act ? 'on' : 'off'}: see the menu with your name.
      </p>
    </Modal>
  );
}
