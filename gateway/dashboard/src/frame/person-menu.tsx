// The person at the foot of the sidebar: how the dashboard looks to them, its keys, and signing out.
import { Menu, useMantineColorScheme } from '@mantine/core';
import { Icon } from '../design/icons.tsx';
import { setSingleKeys, useSingleKeys } from '../keyboard/single-keys.ts';
import { useViewer } from '../session/viewer.tsx';
import { setZoneChoice, useZoneChoice, type ZoneChoice } from '../time/zone.tsx';
import classes from './sidebar.module.css';

const ZONES: readonly (readonly [ZoneChoice, string])[] = [
  ['local', 'Local time'],
  ['utc', 'UTC'],
  ['organization', 'The organization’s zone'],
];
const SCHEMES = [
  ['auto', 'As the system'],
  ['light', 'Light'],
  ['dark', 'Dark'],
] as const;

export function PersonMenu({ isNarrow, onHelp }: { readonly isNarrow: boolean; readonly onHelp: () => void }) {
  const { user, role } = useViewer();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const zone = useZoneChoice();
  const singleKeys = useSingleKeys();
  const name = user.name || user.email || 'You';
  const tick = (on: boolean) => (on ? <Icon name="check" /> : <span style={{ width: 16 }} />);
  return (
    <Menu position="top-start" closeOnItemClick={false}>
      <Menu.Target>
        <button type="button" className={classes.menu} aria-label={`${name}, ${role}`}>
          <span className={`${classes.letter} ${classes.person}`} aria-hidden="true">
            {[...name.toUpperCase()][0]}
          </span>
          {!isNarrow && <bdi className={classes.name}>{name}</bdi>}
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <div className={classes.role}>
          <bdi>{user.email}</bdi>
          <br />
          Role: {role}
        </div>
        <Menu.Divider />
        <Menu.Label>Colours</Menu.Label>
        {SCHEMES.map(([scheme, word]) => (
          <Menu.Item key={scheme} leftSection={tick(colorScheme === scheme)} onClick={() => setColorScheme(scheme)}>
            {word}
          </Menu.Item>
        ))}
        <Menu.Label>Times</Menu.Label>
        {ZONES.map(([choice, word]) => (
          <Menu.Item key={choice} leftSection={tick(zone === choice)} onClick={() => setZoneChoice(choice)}>
            {word}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item leftSection={tick(singleKeys)} onClick={() => setSingleKeys(!singleKeys)}>
          Single keys act
        </Menu.Item>
        <Menu.Item leftSection={<Icon name="help" />} onClick={onHelp} closeMenuOnClick>
          Keys
        </Menu.Item>
        <Menu.Item component="a" href="/reference" leftSection={<Icon name="external" />}>
          API reference
        </Menu.Item>
        <Menu.Divider />
        <form method="post" action="/auth/logout">
          <Menu.Item type="submit">Sign out</Menu.Item>
        </form>
      </Menu.Dropdown>
    </Menu>
  );
}
