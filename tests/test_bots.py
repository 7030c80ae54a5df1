"""Names to bots: which names there are, which rules a bot plays, and what is wrong with a file."""

import json
import struct

import numpy as np
import pytest
from networks import network_of

from nardy_ai import bots
from nardy_ai.bot_file import save_bot
from nardy_ai.bots import BASELINES, PEERS, best_afterstates, default_bot, is_trained, load_bot
from nardy_ai.errors import BoardError, BotError, RulesError
from nardy_ai.movegen.generate import afterstates
from nardy_ai.outcomes import ever_possible
from nardy_ai.rules import find_rules, start_boards

SHORT = find_rules("short")


@pytest.fixture
def shipped(bot_files, monkeypatch):
    """Some bot files stand for those that are shipped: the name of each, and where it lies."""

    def ship(names):
        files = {name: bot_files[name] for name in names}
        monkeypatch.setattr(bots, "checkpoint_names", lambda: sorted(files))
        monkeypatch.setattr(bots, "find_checkpoint", files.get)

    return ship


@pytest.mark.parametrize("name", BASELINES)
def test_baselines_are_loaded_by_name_and_play_short_unless_told(name):
    bot = load_bot(name)
    assert (bot.name, bot.rules) == (name, SHORT)
    assert not is_trained(name)


@pytest.mark.parametrize("name", sorted(set(BASELINES) - {"pubeval"}))
@pytest.mark.parametrize("rules", ["long", "hyper", "кавказские"])
def test_baselines_play_the_rules_they_are_given(name, rules):
    assert load_bot(name, rules).rules == find_rules(rules)


def test_a_baseline_refuses_rules_that_it_does_not_know():
    with pytest.raises(BotError, match="pubeval"):
        load_bot("pubeval", "long")


def test_peers_name_the_module_they_need():
    assert all(entry.module for entry in PEERS.values())
    assert not any(entry.module for entry in BASELINES.values())


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("randm", "random"),
        ("PUBEVAL", "pubeval"),
        ("gnubg0", "gnubg:0"),
        ("heuristics", "heuristic"),
        ("shrt", "short"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest_one(name, meant, shipped):
    shipped(["short"])
    with pytest.raises(BotError, match=f"did you mean '{meant}'"):
        load_bot(name)


def test_a_name_like_no_other_is_refused_with_all_that_are_known(shipped):
    shipped(["short"])
    with pytest.raises(BotError, match=r"unknown bot 'xyzzy' \(known: short, random, .*or a \.safetensors file\)"):
        load_bot("xyzzy")


def test_unknown_rules_are_refused():
    with pytest.raises(RulesError, match="did you mean 'short'"):
        load_bot("random", "shrot")


def test_a_shipped_bot_is_found_by_name(shipped):
    shipped(["short", "long"])
    bot = load_bot("long")
    assert (bot.name, bot.rules) == ("long", find_rules("long"))
    assert is_trained("long")


def test_a_file_plays_the_rules_it_was_trained_for(bot_files):
    bot = load_bot(bot_files["hyper"])
    assert (bot.name, bot.rules) == (str(bot_files["hyper"]), find_rules("hyper"))


def test_a_short_bot_plays_short_dave_under_its_rules(bot_files):
    """No mars under short-dave, so every such chance is 0; and who has hit may not hide, so some plays are gone."""
    dave = find_rules("short-dave")
    bot = load_bot(bot_files["short"], dave)
    assert bot.rules is dave
    assert bot.name == str(bot_files["short"])
    outcomes = bot.outcomes(start_boards(dave))
    assert (outcomes[:, ~ever_possible(dave)] == 0).all()
    assert np.allclose(outcomes.sum(axis=1), 1, atol=1e-6)
    assert (load_bot(bot_files["short"]).outcomes(start_boards(SHORT))[:, ~ever_possible(dave)] > 0).all()


def test_the_same_game_by_another_name_keeps_the_name_that_was_asked_for(bot_files):
    bot = load_bot(bot_files["short"], "short-money")
    assert bot.rules.name == "short-money"
    assert np.array_equal(bot.outcomes(start_boards(SHORT)), load_bot(bot_files["short"]).outcomes(start_boards(SHORT)))


@pytest.mark.parametrize(
    ("file", "rules", "reason"),
    [
        ("short", "long", r"'short' \(contrary board, 15 checkers\) and cannot play 'long' \(parallel board, 15"),
        ("short", "hyper", r"15 checkers\) and cannot play 'hyper' \(contrary board, 3 checkers\)"),
        ("hyper", "short", "3 checkers"),
        ("long", "long-left", r"\(scoring oin_mars\) and cannot play 'long-left' \(scoring checkers_left\)"),
        ("long-left", "long", "ways it does not know"),
    ],
)
def test_rules_that_a_trained_bot_cannot_play_are_refused(file, rules, reason, bot_files):
    with pytest.raises(BotError, match=reason):
        load_bot(bot_files[file], rules)


def test_a_bot_that_never_saw_mars_is_refused_where_mars_counts(tmp_path):
    dave = find_rules("short-dave")
    file = tmp_path / "dave.safetensors"
    save_bot(file, network_of(dave), golden=start_boards(dave), card={})
    assert load_bot(file).rules == dave
    with pytest.raises(BotError, match=r"\(scoring oin\) and cannot play 'short' \(scoring oin_mars_koks\)"):
        load_bot(file, SHORT)


@pytest.mark.parametrize(
    ("rules", "name"),
    [
        ("short", "short"),
        ("short-match", "short"),  # the same game
        ("short-dave", "short"),
        ("tavla", "short"),
        ("long-fnr", "long"),
        ("long-left", "long-left"),
        ("hyper", "hyper"),
    ],
)
def test_the_default_bot_is_the_shipped_one_with_the_nearest_rules(rules, name, shipped):
    shipped(["short", "long", "hyper", "long-left"])
    assert default_bot(find_rules(rules)) == name


def test_of_two_bots_that_can_play_the_one_with_fewer_other_rules_is_the_default(bot_files, tmp_path, monkeypatch):
    caucasian = find_rules("caucasian")
    files = {"short": bot_files["short"], "caucasian": tmp_path / "caucasian.safetensors"}
    save_bot(
        files["caucasian"],
        network_of(caucasian),
        golden=start_boards(caucasian),
        card={},
    )
    monkeypatch.setattr(bots, "checkpoint_names", lambda: ["caucasian", "short"])
    monkeypatch.setattr(bots, "find_checkpoint", files.get)
    for base, name in (("caucasian", "caucasian"), ("short", "short")):
        mine = tmp_path / f"{base}.toml"
        option = 'hit_hide_scope = "board"' if base == "caucasian" else "koks_needs_none_off = false"
        mine.write_text(f'name = "mine"\nbase = "{base}"\n{option}\n', encoding="utf-8")
        assert default_bot(find_rules(mine)) == name


def test_without_a_shipped_bot_for_the_rules_there_is_no_default(shipped):
    shipped(["long"])
    with pytest.raises(BotError, match=r"no bot is shipped that can play 'short'.*: random, pips, heuristic, pubeval$"):
        default_bot(SHORT)


def test_without_a_default_bot_only_baselines_that_can_play_are_named(shipped):
    shipped(["short"])
    with pytest.raises(BotError, match=r": random, pips, heuristic$"):
        default_bot(find_rules("long-left"))


def test_rules_that_only_bear_the_name_of_a_shipped_bot_get_no_bot_of_another_game(shipped, tmp_path):
    file = tmp_path / "short.toml"
    file.write_text('name = "short"\nbase = "long"\nsix_block = "never"\n', encoding="utf-8")
    shipped(["short", "long"])
    assert default_bot(find_rules(file)) == "long"


@pytest.mark.parametrize("name", ["short", "long", "hyper"])
def test_best_afterstates_are_those_that_the_bot_values_highest(name, bot_files):
    bot = load_bot(bot_files[name])
    boards = start_boards(bot.rules, 3)
    dice = np.array([(3, 1), (6, 5), (2, 2)], dtype=np.uint8)
    after = afterstates(boards, dice, bot.rules)
    values = bot.play_values(boards, after)
    chosen, worth = best_afterstates(bot, boards, dice)
    for i in range(3):
        segment = slice(after.offsets[i], after.offsets[i + 1])
        best = int(np.argmax(values[segment]))
        assert np.array_equal(chosen[i], after.boards[segment][best])
        assert worth[i] == values[segment][best]


def test_best_afterstates_take_one_board_and_one_roll(bot_files):
    bot = load_bot(bot_files["short"])
    chosen, worth = best_afterstates(bot, start_boards(SHORT)[0], (3, 1))
    assert (chosen.shape, chosen.dtype, worth.shape, worth.dtype) == ((1, 2, 26), np.int8, (1,), np.float32)


def test_best_afterstates_refuse_what_is_no_board():
    with pytest.raises(BoardError, match="rows sum to"):
        best_afterstates(load_bot("random"), np.zeros((1, 2, 26), dtype=np.int8), (3, 1))


def header_of(data: bytes) -> tuple[dict, bytes]:
    """The header of a safetensors file and what follows it."""
    (size,) = struct.unpack("<Q", data[:8])
    return json.loads(data[8 : 8 + size]), data[8 + size :]


def with_metadata(data: bytes, key: str, value: str) -> bytes:
    header, tensors = header_of(data)
    header["__metadata__"][key] = value
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + tensors


def with_flipped_weight(data: bytes) -> bytes:
    changed = bytearray(data)
    changed[-1000] ^= 1
    return bytes(changed)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: b"no bot at all, but a long enough text",
        with_flipped_weight,
        lambda data: with_metadata(data, "version", "99"),
        lambda data: with_metadata(data, "features", "counts-99"),
        lambda data: with_metadata(data, "rules", "{"),
        lambda data: with_metadata(data, "rules", '"short"'),
        lambda data: with_metadata(data, "rules", '{"checkers": 15}'),
    ],
)
def test_a_damaged_file_is_refused_in_one_line_that_begins_with_its_name(damage, bot_files, tmp_path):
    """What is wrong with which part of a file is `bot_file`'s business."""
    file = tmp_path / "damaged.safetensors"
    file.write_bytes(damage(bot_files["short"].read_bytes()))
    with pytest.raises(BotError) as refusal:
        load_bot(file)
    assert str(refusal.value).startswith(f"{file}: ")
    assert "\n" not in str(refusal.value)


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    with pytest.raises(BotError, match="no such file"):
        load_bot(tmp_path / "absent.safetensors")
    with pytest.raises(BotError, match="is no file"):
        load_bot(tmp_path)
