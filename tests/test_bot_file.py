"""Bot files: what is written comes back, what is damaged is refused in one line, and nothing is left half done."""

import json
import struct
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from networks import network_of, random_weights
from positions import invented_boards, reached_boards
from safetensors import safe_open
from safetensors.numpy import save_file

from nardy_ai import bot_file, tensors
from nardy_ai.bot_file import read_bot, save_bot
from nardy_ai.errors import BotError, NardyError
from nardy_ai.evaluators.network import Network, Weights
from nardy_ai.features import find_features
from nardy_ai.files import replace_file, replace_text
from nardy_ai.rules import RuleSet, find_rules

SHORT, HYPER = find_rules("short"), find_rules("hyper")
ALWAYS_THERE = [entry.name for entry in fields(Weights) if entry.name not in ("reals", "middle", "middle_bias")]
"""Early files have no real inputs."""
CARD = {"games": 1000, "machine": "two cores", "words": "нарды", "config": {"lr": 0.001}}
OFFSETS_FLIPPED = 300


def golden_of(rules: RuleSet) -> np.ndarray:
    return np.concatenate((reached_boards(rules, 6, seed=3)[0], invented_boards(rules, 6, seed=3)[0]))


def saved(folder: Path, network: Network | None = None, name: str = "mine.safetensors") -> Path:
    network = network or network_of(HYPER)
    path = folder / name
    save_bot(path, network, golden=golden_of(network.rules), card=CARD)
    return path


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def contents(path: Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    with safe_open(path, framework="numpy") as file:
        return {name: file.get_tensor(name) for name in file.keys()}, file.metadata()  # noqa: SIM118


def rewritten(path: Path, change) -> Path:
    """The file with its arrays and metadata changed by `change`, and a digest that fits again."""
    arrays, metadata = contents(path)
    change(arrays, metadata)
    if "digest" in metadata:
        metadata["digest"] = tensors._digest(arrays, metadata)
    save_file(arrays, path, metadata)
    return path


def assert_refused(path: Path, reason: str = "") -> None:
    """BotError, one line, which begins with the file's name."""
    with pytest.raises(BotError) as caught:
        read_bot(path)
    text = str(caught.value)
    assert text.startswith(f"{path}: ")
    assert reason in text
    assert "\n" not in text
    assert len(text) > len(f"{path}: ")


# There and back


@pytest.mark.parametrize("features", ["counts-1", "blocks-1", "tactics-1"])
@pytest.mark.parametrize("preset", ["short", "hyper", "long", "long-left"])
def test_bot_comes_back_as_it_was(preset: str, features: str, tmp_path: Path):
    network = network_of(find_rules(preset), features)
    boards = reached_boards(network.rules, 200, seed=9)[0]

    found = read_bot(saved(tmp_path, network))

    assert found.card == CARD
    assert (found.network.rules, found.network.features) == (network.rules, network.features)
    assert found.network.phases == network.phases
    assert found.network.name == "mine"
    for entry in fields(Weights):
        assert (getattr(found.network.weights, entry.name) == getattr(network.weights, entry.name)).all()
    assert found.network.outcomes(boards).tobytes() == network.outcomes(boards).tobytes()


def test_weights_on_the_grid_take_two_bytes_and_those_without_room_there_come_back_as_well(tmp_path: Path):
    network = network_of(SHORT, "tactics-1")
    weights = network.weights
    steep = weights.first.copy()
    steep[6:8, 0] = 20_000 * 2.0**-network.grid.sums, -40_000 * 2.0**-network.grid.sums
    cases = {"narrow": (weights, np.int16), "wide": (replace(weights, first=steep), np.float32)}

    for name, (wanted, kind) in cases.items():
        given = replace(network, weights=wanted)
        path = saved(tmp_path, given, f"{name}.safetensors")

        arrays, _ = contents(path)
        assert arrays["first"].dtype == kind
        assert {arrays[key].dtype for key in ("first_bias", "reals", "second")} == {np.dtype(np.int16)}
        assert (read_bot(path).network.weights.first == given.weights.first).all()


def test_files_of_version_2_are_read():
    """A small bot that the program before version 3 has written, all weights as float32."""
    path = Path(__file__).parent / "data" / "formats" / "bot-version-2.safetensors"
    arrays, texts = contents(path)
    assert texts["version"] == "2"
    assert arrays["first"].dtype == np.float32

    found = read_bot(path).network

    assert (found.weights.first == arrays["first"]).all()


def test_files_of_version_2_hold_no_whole_numbers(tmp_path: Path):
    path = rewritten(saved(tmp_path), lambda arrays, metadata: metadata.update(version="2"))

    assert_refused(path, "expected float32")


def test_own_rules_come_back(tmp_path: Path):
    rules = replace(SHORT, name="мои", six_block="ahead", six_block_check="step", head_limit=1, start={24: 2, 13: 13})
    network = replace(network_of(SHORT), rules=rules)

    assert read_bot(saved(tmp_path, network)).network.rules == rules


def test_same_bot_has_the_same_digest(tmp_path: Path):
    """The bytes of two files may differ: safetensors writes its texts in any order."""
    one, other = saved(tmp_path, name="one.safetensors"), saved(tmp_path, name="other.safetensors")

    assert contents(one)[1] == contents(other)[1]


def test_transposed_weights_are_written_as_they_are(tmp_path: Path):
    """safetensors writes the memory of an array, whatever its strides say."""
    weights = random_weights(HYPER)
    turned = Weights(
        **{e.name: np.asfortranarray(getattr(weights, e.name)) for e in fields(Weights) if e.name != "second_bias"},
        second_bias=np.repeat(weights.second_bias, 2, axis=1)[:, ::2],
    )
    assert not turned.first.flags.c_contiguous
    assert not turned.second_bias.flags.c_contiguous

    found = read_bot(saved(tmp_path, Network("turned", HYPER, find_features("counts-1"), turned)))

    wanted = network_of(HYPER).weights
    for entry in fields(Weights):
        assert (getattr(found.network.weights, entry.name) == getattr(wanted, entry.name)).all(), entry.name


def test_folders_are_made(tmp_path: Path):
    assert read_bot(saved(tmp_path / "runs" / "mine")).card == CARD


# Damage


@pytest.mark.parametrize("keep", [0, 1, 7, 8, 9, 100, 0.5, -1])
def test_cut_file_is_refused(keep: float, tmp_path: Path):
    path = saved(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(keep * len(whole)) if 0 < keep < 1 else keep])

    assert_refused(path)


def test_longer_file_is_refused(tmp_path: Path):
    path = saved(tmp_path)
    path.write_bytes(path.read_bytes() + b"\0")

    assert_refused(path)


@pytest.mark.parametrize("flip", [0x01, 0x20, 0xFF])
def test_flipped_byte_anywhere_is_refused(flip: int, tmp_path: Path):
    """Every byte of the length, a sample of the header's and of the tensors' bytes."""
    path = saved(tmp_path)
    whole = path.read_bytes()
    (header,) = struct.unpack("<Q", whole[:8])
    rng = np.random.default_rng(flip)
    # The header ends in spaces to fill a word of eight; a blank for a blank is no damage.
    end = 8 + len(whole[8 : 8 + header].rstrip())
    offsets = [*range(8), *rng.integers(8, end, OFFSETS_FLIPPED), *rng.integers(8 + header, len(whole), 100)]
    for offset in offsets:
        damaged = bytearray(whole)
        damaged[offset] ^= flip
        path.write_bytes(damaged)

        with pytest.raises(BotError) as caught:
            read_bot(path)
        assert "\n" not in str(caught.value), offset


def test_every_tensor_is_under_the_digest(tmp_path: Path):
    """One value in each changed, and the digest left as it was."""
    path = saved(tmp_path)
    arrays, metadata = contents(path)
    for name, array in arrays.items():
        if not array.size:
            continue
        changed = array.copy()
        changed.flat[-1] += 1
        save_file(arrays | {name: changed}, path, metadata)

        assert_refused(path, "damaged")


@pytest.mark.parametrize("key", ["rules", "features", "card", "digest"])
def test_every_text_is_under_the_digest(key: str, tmp_path: Path):
    path = saved(tmp_path)
    arrays, metadata = contents(path)
    metadata[key] = metadata[key].replace("1", "2").replace("hyper", "hyped")
    assert metadata != contents(path)[1]
    save_file(arrays, path, metadata)

    assert_refused(path, "damaged")


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("format", "another", "is no bot file of nardy_ai"),
        ("format", None, "is no bot file of nardy_ai"),
        ("version", "99", "has format version 99; this program reads 2 and 3"),
        ("version", None, "has format version None"),
        ("digest", None, "lacks digest"),
        ("rules", None, "lacks rules"),
        ("features", None, "lacks features"),
        ("card", None, "lacks card"),
        ("features", "counts-99", "unknown features 'counts-99'"),
        ("features", "blocks-1", "weights first are"),
        ("rules", "{", "Expecting"),
        ("rules", "[]", ""),
        ("rules", "7", ""),
        ("rules", '"ab"', ""),
        ("rules", '{"name": "x"}', "neither base nor start"),
        ("grid", None, "lacks grid"),
        ("phases", None, "lacks phases"),
        ("grid", "9", "expected two whole numbers"),
        ("grid", "[9]", "expected two whole numbers"),
        ("grid", "[9, 9.5]", "expected two whole numbers"),
        ("grid", "[9, 1000000]", "expected numbers from"),
        ("grid", "[2, 2]", "does not give the answers"),
        ("grid", "[-113, 3]", ""),
        ("grid", "[-127, 5]", ""),
        ("card", "{", "Expecting"),
        ("card", "[1]", "card"),
    ],
)
def test_texts_that_are_no_bots_are_refused(key: str, value: str | None, reason: str, tmp_path: Path):
    def change(arrays: dict, metadata: dict) -> None:
        metadata.pop(key)
        if value is not None:
            metadata[key] = value

    assert_refused(rewritten(saved(tmp_path), change), reason)


@pytest.mark.parametrize("name", [*ALWAYS_THERE, "golden.boards", "golden.outcomes"])
def test_missing_tensor_is_named(name: str, tmp_path: Path):
    assert_refused(rewritten(saved(tmp_path), lambda arrays, metadata: arrays.pop(name)), f"lacks {name}")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("golden.boards", np.zeros((12, 2, 25), dtype=np.int8)),
        ("golden.boards", np.zeros((12, 2, 26), dtype=np.int8)),
        ("golden.boards", np.zeros((0, 2, 26), dtype=np.int8)),
        ("golden.boards", np.zeros((12, 2, 26), dtype=np.float32)),
        ("golden.boards", np.full((12, 2, 26), 127, dtype=np.int8)),
        ("golden.outcomes", np.zeros((12, 6), dtype=np.float32)),
        ("golden.outcomes", np.full((12, 6), np.nan, dtype=np.float32)),
        ("golden.outcomes", np.zeros((11, 6), dtype=np.float32)),
        ("golden.outcomes", np.zeros((12, 32), dtype=np.float32)),
        ("first", np.float32(1)),
        ("first", np.zeros((4, 4), dtype=np.float32)),
        ("third", np.zeros((2, 6, 12), dtype=np.float64)),
        ("first", np.int16(1)),
        ("first", np.zeros(4_000, dtype=np.int16)),
        ("first", np.zeros((4, 4), dtype=np.int16)),
        ("first", np.zeros((312, 4, 4), dtype=np.int16)),
        ("second", np.zeros((4, 4), dtype=np.int16)),
        ("first_bias", np.zeros((4, 4), dtype=np.int16)),
        ("third", np.zeros((2, 6, 12), dtype=np.int16)),
    ],
)
def test_tensors_that_do_not_fit_are_refused(name: str, value: np.ndarray, tmp_path: Path):
    def change(arrays: dict, metadata: dict) -> None:
        arrays[name] = np.asarray(value)

    assert_refused(rewritten(saved(tmp_path), change))


def test_answers_other_than_promised_are_refused(tmp_path: Path):
    """A digest that fits proves the file whole; the golden positions prove that this program computes the same."""

    def change(arrays: dict, metadata: dict) -> None:
        arrays["golden.outcomes"][3, 0] += 2 * bot_file.TOLERANCE

    assert_refused(rewritten(saved(tmp_path), change), "does not give the answers")


def test_rules_of_another_game_do_not_give_the_promised_answers(tmp_path: Path):
    """Scoring without koks has no chance of koks."""

    def change(arrays: dict, metadata: dict) -> None:
        metadata["rules"] = json.dumps(json.loads(metadata["rules"]) | {"scoring": "oin"})

    assert_refused(rewritten(saved(tmp_path), change), "does not give the answers")


def test_other_files_are_refused(tmp_path: Path):
    text = tmp_path / "text.safetensors"
    text.write_text("no bot at all, but long enough to hold a header\n" * 9, encoding="utf-8")
    bare = tmp_path / "bare.safetensors"
    save_file({"first": np.zeros(3, dtype=np.float32)}, bare)

    assert_refused(text, "is not readable")
    assert_refused(bare, "is no bot file of nardy_ai")
    assert_refused(tmp_path, "is no file")
    assert_refused(tmp_path / "absent.safetensors", "no such file")


# Written whole or not at all


def test_failing_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = saved(tmp_path)
    before = path.read_bytes()

    def half(arrays: dict, part: Path, metadata: dict) -> None:
        part.write_bytes(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(tensors, "save_file", half)
    with pytest.raises(OSError, match="disk full"):
        saved(tmp_path, network_of(HYPER, seed=2))

    assert path.read_bytes() == before
    assert names_in(tmp_path) == [path.name]


def test_bot_that_cannot_be_read_back_does_not_replace_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = saved(tmp_path)
    before = path.read_bytes()

    def wrong(arrays: dict, part: Path, metadata: dict) -> None:
        save_file(arrays | {"first": np.zeros_like(arrays["first"])}, part, metadata)

    monkeypatch.setattr(tensors, "save_file", wrong)
    with pytest.raises(BotError, match="damaged"):
        saved(tmp_path, network_of(HYPER, seed=2))

    assert path.read_bytes() == before
    assert names_in(tmp_path) == [path.name]


@pytest.mark.parametrize("golden", [np.zeros((0, 2, 26), dtype=np.int8), np.zeros((1, 2, 26), dtype=np.int8)])
def test_golden_positions_must_be_boards(golden: np.ndarray, tmp_path: Path):
    with pytest.raises(NardyError):
        save_bot(tmp_path / "bot.safetensors", network_of(HYPER), golden=golden, card=CARD)
    assert names_in(tmp_path) == []


def test_replaced_file_is_the_new_one_and_nothing_is_left_over(tmp_path: Path):
    path = tmp_path / "deep" / "file.txt"

    replace_text(path, "one")
    replace_text(path, "два")

    assert path.read_text(encoding="utf-8") == "два"
    assert names_in(path.parent) == ["file.txt"]


def test_reader_sees_the_old_file_until_the_new_one_is_whole(tmp_path: Path):
    path = tmp_path / "file.txt"
    replace_text(path, "old")

    def write(part: Path) -> None:
        part.write_text("ne")
        assert path.read_text() == "old"
        part.write_text("new")

    replace_file(path, write)

    assert path.read_text() == "new"
