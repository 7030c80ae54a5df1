"""Matches as text: the dialects of `.mat`, GNU Backgammon's `.sgf`, lists of positions, and what is wrong in them."""

import codecs

import numpy as np
import pytest

from nardy_ai.boards import OFF
from nardy_ai.dice import dice_at, opening_dice_at
from nardy_ai.errors import NotationError
from nardy_ai.movegen.reference import plays
from nardy_ai.notation import Move, ordered_moves, parse_play, write_position
from nardy_ai.records import (
    CubeAction,
    Fault,
    GameRecord,
    MatchRecord,
    Resignation,
    Setup,
    Turn,
    read_record,
    replay_match,
    save_record,
)
from nardy_ai.records.mat import read_mat, write_mat
from nardy_ai.records.sgf import read_sgf
from nardy_ai.rules import find_rules, start_boards

SHORT = find_rules("short")
LONG = find_rules("long")

# As GNU Backgammon lays it out: 25 and 0 for bar and off, a column of fixed width.
MANGLED = 25

GNUBG_LIKE = """\
 5 point match

 Game 1
 gnubg : 0                        user : 0
  1)                              31: 8/5 6/5
  2) 52: 24/22 13/8               Doubles => 2
  3) Takes                        64: 24/14
  4) 21: 13/11* 6/5               62: 25/23 24/18
  5) Doubles => 4                 Drops
      Wins 2 points

 Game 2
 gnubg : 2                        user : 0
  1) 43: 24/20 13/10              55: 8/3(2) 6/1*(2)
  2) 66:                          11: 6/5(2) 3/2 3/2
"""

# As eXtreme Gammon writes: header lines, ratings with decimal commas, a dance in words.
XG_LIKE = """\
; [Site "eXtreme Gammon"]
; [Player 1 "Анна"]
; [Player 1 Elo "1955,94/281"]
; [Variation "Backgammon"]
; [Crawford "Off"]
; [Jacoby "Off"]
; [EventDate "2024.05.01"]

7 point match

Game 1
Анна : 0                              José : 0
 1) 21: 24/23 13/11                    66: 24/18(2) 13/7(2)
 2) 66: Cannot Move                    Doubles => 2
 3) Drops
                                       Wins 1 point
"""

# As play servers write: names with ratings, a result beside the last play, "and the match".
SERVER_LIKE = """\
3 point match

 Game 3
 zoonk,1666 : 2                   nori,1699 : 2
  1) 61: 13/7 8/7                    21: 24/23 13/11
  2) 43: Illegal play (x)            Wins 1 point and the match
"""


def lines(text: str) -> list[str]:
    return text.split("\n")


def read(text: str, rules=SHORT) -> MatchRecord:
    return read_mat(lines(text), rules)


def moves(text: str) -> tuple[Move, ...]:
    return parse_play(text)


def test_gnubg_layout_is_read_whole():
    record = read(GNUBG_LIKE)

    assert record.faults == ()
    assert (record.names, record.length) == (("gnubg", "user"), 5)
    first, second = record.games
    assert first.actions == (
        Turn(1, (3, 1), moves("8/5 6/5")),
        Turn(0, (5, 2), moves("24/22 13/8")),
        CubeAction(1, "double", 2),
        CubeAction(0, "take"),
        Turn(1, (6, 4), moves("24/14")),
        Turn(0, (2, 1), moves("13/11* 6/5")),
        Turn(1, (6, 2), moves("bar/23 24/18")),
        CubeAction(0, "double", 4),
        CubeAction(1, "pass"),
    )
    assert (first.winner, first.points, first.scores) == (0, 2, (0, 0))
    assert (second.winner, second.scores) == (None, (2, 0))
    assert second.actions[2] == Turn(0, (6, 6), None)


def test_lines_of_the_file_are_known():
    assert [action.line for action in read(GNUBG_LIKE).games[0].actions] == [5, 6, 6, 7, 7, 8, 8, 9, 9]


def test_header_lines_are_read_and_those_about_rules_are_flags():
    record = read(XG_LIKE)

    assert record.faults == ()
    assert (record.rules, record.crawford, record.jacoby) == ("short", False, False)
    assert ("Player 1 Elo", "1955,94/281") in record.tags
    assert record.games[0].actions[2] == Turn(0, (6, 6), ())
    assert (record.games[0].winner, record.games[0].points) == (1, 1)


def test_server_layout_is_read_whole():
    record = read(SERVER_LIKE)

    assert record.names == ("zoonk,1666", "nori,1699")
    game = record.games[0]
    assert (game.number, game.scores, game.winner, game.points) == (3, (2, 2), 1, 1)
    assert game.actions[2] == Turn(0, (4, 3), None)


def test_long_nardy_has_each_sides_own_numbers():
    record = read(' ; [Rules "long"]\n0 point match\nGame 1\nA : 0   B : 0\n 1) 31: 24/20    64: 24/14\n')

    game = replay_match(record, LONG)[0]

    assert [moment.note for moment in game.moments] == ["", ""]
    assert game.final[0, 20] == game.final[1, 14] == 1


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("  1) 31: 8/5 6/5", [Turn(0, (3, 1), moves("8/5 6/5"))]),
        ("  1)                          13: 8/5 6/5", [Turn(1, (3, 1), moves("8/5 6/5"))]),
        ("  1)\t\t\t\t13: 8/5 6/5", [Turn(1, (3, 1), moves("8/5 6/5"))]),
        ("1) 3-1: 8-5, 6-5", [Turn(0, (3, 1), moves("8/5 6/5"))]),
        ("1) 11: bar/24*/23 6/5(2)", [Turn(0, (1, 1), moves("bar/24* 24/23 6/5(2)"))]),
        ("1) 21: 2/off 1/0", [Turn(0, (2, 1), moves("2/off 1/off"))]),
        ("1) 66: no play     Resigns gammon", [Turn(0, (6, 6), ()), Resignation(1, 2)]),
        ("1) Doubles => 2    Beavers => 4", [CubeAction(0, "double", 2), CubeAction(1, "beaver", 4)]),
        ("1) Redoubles       Raccoons", [CubeAction(0, "double"), CubeAction(1, "raccoon")]),
        ("1) doubles to 8    accepts", [CubeAction(0, "double", 8), CubeAction(1, "take")]),
        ("1) 61: ????        42: 8/4 6/4", [Turn(0, (6, 1), None), Turn(1, (4, 2), moves("8/4 6/4"))]),
    ],
)
def test_dialects_of_a_row(row, expected):
    record = read(f"3 point match\nGame 1\nA : 0   B : 0\n{row}\n")

    assert record.faults == ()
    assert list(record.games[0].actions) == expected


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("1) 71: 8/5", Fault(4, "the roll is '71'; expected two numbers from 1 to 6; the turn is left out")),
        ("1) 31: 8/5 6/", Fault(4, "'6/' is not understood")),
        ("1) 31: 5/8", Fault(4, "play '5/8': '5/8' does not move down from bar or 24..1 towards off")),
        ("what is this", Fault(4, "'what is this' is not understood")),
        ("1) 31: 8/5 6/5\n2) Takes", Fault(5, "a take answers no double; one is put in before it")),
        ("Wins 1 point\n1) 31: 8/5", Fault(5, "'31: 8/5' stands behind the end of game 1 and is left out")),
        ("1) 31: 8/5 6/5   42: 8/4 6/4   61: 8/7", Fault(4, "'61: 8/7' is a third entry in a row of two")),
    ],
)
def test_damage_is_named_with_its_line_and_the_rest_is_kept(body, fault):
    record = read(f"3 point match\nGame 1\nA : 0   B : 0\n{body}\nGame 2\nA : 1   B : 0\n1) 42: 8/4 6/4\n")

    assert record.faults[0] == fault
    assert record.games[-1].actions == (Turn(0, (4, 2), moves("8/4 6/4")),)


def test_lost_blanks_in_the_first_row_are_mended():
    """As pasted from a page: the right player begins, the left plays in row 2."""
    record = read("3 point match\nGame 1\nA : 0 B : 0\n1) 31: 8/5 6/5\n2) 42: 8/4 6/4 61: 13/7 8/7\n")

    assert [action.side for action in record.games[0].actions] == [1, 0, 1]
    assert [fault.line for fault in record.faults] == [4]


def test_long_line_is_left_out_at_once():
    record = read(f"3 point match\nGame 1\n{'a: 1  ' * 30000}\nA : 0   B : 0\n1) 31: 8/5 6/5\n")

    assert record.names == ("A", "B")
    assert [fault.line for fault in record.faults] == [3]


def test_missing_double_is_put_in():
    record = read("3 point match\nGame 1\nA : 0   B : 0\n1) 31: 8/5 6/5     Takes\n")

    assert record.games[0].actions[1:] == (CubeAction(0, "double"), CubeAction(1, "take"))


def test_players_who_change_columns_keep_their_sides():
    record = read("3 point match\nGame 1\nA : 0   B : 0\nWins 1 point\nGame 2\nB : 0   A : 1\n1) 31: 8/5 6/5\n")

    assert record.games[1].scores == (1, 0)
    assert record.games[1].actions[0].side == 1


def test_scores_are_carried_on_where_a_line_of_names_is_missing():
    record = read("3 point match\nGame 1\nA : 0   B : 0\nWins 2 points\nGame 2\n1) 31: 8/5 6/5\n")

    assert record.games[1].scores == (2, 0)
    assert record.faults == (Fault(6, "the line of names and scores is missing before this row"),)


@pytest.mark.parametrize("text", ["", "hello", "3 point match\n", "Game 1\n"])
def test_file_without_a_game_is_refused(text):
    with pytest.raises(NotationError, match="holds no game"):
        read(text)


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (codecs.BOM_UTF8 + "Анна".encode(), "Анна"),
        ("Анна".encode("utf-16"), "Анна"),
        ("Анна Ive".encode("cp1251"), "Анна Ive"),
        ("José Núñez".encode("latin-1"), "José Núñez"),
        ("Анна".encode(), "Анна"),
    ],
    ids=["utf-8 with mark", "utf-16", "cp1251", "latin-1", "utf-8"],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_encodings_and_line_ends(tmp_path, data, name, end):
    encoding = "utf-16-le" if data[:2] == codecs.BOM_UTF16_LE else "ascii"
    mark = data[:3] if data.startswith(codecs.BOM_UTF8) else data[:2] if encoding != "ascii" else b""
    head = f"3 point match{end}Game 1{end}".encode(encoding)
    tail = f" : 0   B : 0{end}1) 31: 8/5 6/5{end}".encode(encoding)
    path = tmp_path / "match.mat"
    path.write_bytes(mark + head + data[len(mark) :] + tail)

    record = read_record(path, SHORT)

    assert record.names == (name, "B")
    assert record.faults == ()
    assert len(record.games[0].actions) == 1


def test_binary_file_is_refused(tmp_path):
    path = tmp_path / "match.xg"
    path.write_bytes(b"DMGI\0\0\0")
    with pytest.raises(NotationError, match="export it as"):
        read_record(path, SHORT)


def random_match(name: str, seed: int, games: int) -> MatchRecord:
    """A match of random plays with a random cube, in the words of the package."""
    rules = find_rules(name)
    rng = np.random.default_rng(seed)
    records = []
    for number in range(games):
        board, side = start_boards(rules)[0], number % 2
        dice = opening_dice_at(seed, number, "use_dice")[0]
        actions, cube = [], 1
        for ply in range(1, 400):
            legal = plays(board, dice, rules)
            play = legal[rng.integers(len(legal))]
            actions.append(Turn(side, (int(dice[0]), int(dice[1])), play.moves))
            board, side = play.afterstate, 1 - side
            if board[1, OFF] == rules.checkers:
                break
            if cube < 4 and ply % 7 == 6:
                cube *= 2
                actions.append(CubeAction(side, "double", cube))
                actions.append(CubeAction(1 - side, "take"))
                if cube == 4:
                    actions.append(Resignation(1 - side, 1))
                    break
            dice = dice_at(seed, number, ply)[0]
        last = actions[-1]
        if isinstance(last, Resignation):
            records.append(GameRecord(number + 1, (0, 0), tuple(actions), winner=1 - last.side, points=cube))
        else:
            records.append(GameRecord(number + 1, (0, 0), tuple(actions)))
    return MatchRecord(names=("Ann B", "Вера"), length=0, games=tuple(records), rules=name, tags=(("Event", "x"),))


@pytest.mark.parametrize("name", ["short", "caucasian", "hyper", "tavla", "long", "long-fnr"])
def test_what_is_written_is_read_back_equal_and_every_play_is_legal(name, tmp_path):
    rules = find_rules(name)
    record = random_match(name, seed=3, games=3)
    path = tmp_path / "match.mat"

    save_record(path, record)
    back = read_record(path, SHORT)

    assert back == record
    assert back.faults == ()
    for game, written in zip(replay_match(back, rules), record.games, strict=True):
        turns = [action for action in written.actions if isinstance(action, Turn)]
        moments = [moment for moment in game.moments if isinstance(moment.action, Turn)]
        assert [moment.note for moment in moments] == [""] * len(turns)
        board = start_boards(rules)[0]
        for moment, turn in zip(moments, turns, strict=True):
            assert (moment.position.board == board).all()
            play = next(play for play in plays(board, turn.dice, rules) if ordered_moves(play.moves) == turn.moves)
            board = play.afterstate


def sgf_of(record: MatchRecord) -> str:
    """The games of a record as GNU Backgammon saves them."""

    def letter(slot: int, side: int) -> str:
        return {25: "y", 0: "z"}.get(slot) or chr(ord("a") + (slot - 1 if side == 0 else 24 - slot))

    trees = []
    for game in record.games:
        nodes = []
        for action in game.actions:
            colour = "WB"[action.side]
            if isinstance(action, Turn):
                value = "".join(letter(a, action.side) + letter(b, action.side) for a, b, _ in action.moves or ())
                nodes.append(f";{colour}[{action.dice[0]}{action.dice[1]}{value}]")
            elif isinstance(action, CubeAction):
                nodes.append(f";{colour}[{ {'pass': 'drop'}.get(action.kind, action.kind) }]")
        result = "" if game.winner is None else f"RE[{'WB'[game.winner]}+{game.points}R]"
        trees.append(f"(;FF[4]GM[6]MI[length:0][game:{game.number - 1}][ws:0][bs:0]PW[W]PB[B]{result}\n")
        trees += [*(f"{node}\n" for node in nodes), ")\n"]
    return "".join(trees)


@pytest.mark.parametrize("name", ["short", "hyper"])
def test_sgf_holds_the_same_games_as_mat(name):
    record = random_match(name, seed=5, games=3)

    back = read_sgf(lines(sgf_of(record)), find_rules(name))

    assert back.faults == ()
    for game, written in zip(replay_match(back, find_rules(name)), replay_match(record, find_rules(name)), strict=True):
        assert (game.winner, game.points, game.final.tolist()) == (
            written.winner,
            written.points,
            written.final.tolist(),
        )
        assert not any("not legal" in str(fault) for fault in game.faults)


SGF = r"""(;FF[4]GM[6]CA[UTF-8]AP[GNU Backgammon:1.07]
MI[length:5][game:0][ws:0][bs:0]PW[White \] name]PB[Bob]DT[2024-05-01]EV[Open]RU[Crawford]RE[B+2R]
;W[31hefe]C[by the book]
;B[52lqln]A[0][ver 3][21hefe E 0.1]
;W[double]
;B[take]
;W[66xrxrmgmg](;B[61lrqr])(;B[61lrab])
)
(;FF[4]GM[6]MI[length:5][game:1][ws:0][bs:2]PW[White]PB[Bob]RU[Crawford]
;PL[B]
;CP[b]
;CV[2]
;AE[a:y]AW[a][a][f:h]AB[x][y]
;DI[42]
)
"""


def test_sgf_of_gnubg_is_read():
    record = read_sgf(lines(SGF), SHORT)

    assert record.faults == ()
    assert (record.names, record.length, record.crawford) == (("White ] name", "Bob"), 5, True)
    assert record.tags == (("Event", "Open"), ("EventDate", "2024.05.01"))
    first, second = record.games
    assert first.actions == (
        Turn(0, (3, 1), moves("8/5 6/5")),
        Turn(1, (5, 2), moves("13/8 13/11")),
        CubeAction(0, "double"),
        CubeAction(1, "take"),
        Turn(0, (6, 6), moves("24/18(2) 13/7(2)")),
        Turn(1, (6, 1), moves("13/7 8/7")),
        Resignation(0),
    )
    assert first.actions[0].comment == "by the book"
    assert (second.number, second.scores) == (2, (0, 2))
    setup, turn = second.actions
    assert isinstance(setup, Setup)
    assert write_position(setup.position, SHORT) == "bar:1 1:1 / 8:1 7:1 6:1 1:2 cube=2 owner=own"
    assert turn == Turn(1, (4, 2), None)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("(;GM[6]MI[length:3]\n;W[31hefe]\n;B[99ab]", Fault(3, "'99ab' is no play; expected two dice and up to 4")),
        ("(;GM[6]MI[length:3]\n;W[31hefe]\n;B[", Fault(3, "'[' is no property; the rest of the file is left out")),
        ("(;GM[6]MI[length:3]\n;W[31hefe]\n;W[31ab]", Fault(3, "'31ab' moves a checker backwards")),
        ("(;GM[6]MI[length:3]\n;W[31hefe]", Fault(2, "the file ends within a game")),
    ],
)
def test_damaged_sgf_is_read_as_far_as_it_goes(text, fault):
    record = read_sgf(lines(text), SHORT)

    assert record.games[0].actions == (Turn(0, (3, 1), moves("8/5 6/5")),)
    assert record.faults[-1].line == fault.line or len(record.faults) > 1
    assert any(str(one).startswith(str(fault)) for one in record.faults)


def test_sgf_of_a_game_without_rules_here_says_so():
    record = read_sgf(["(;GM[6]RU[Crawford:Nackgammon];W[31hefe])"], SHORT)
    assert [str(fault) for fault in record.faults] == ["line 1: 'nackgammon' is no game of the rule sets here"]


def test_sgf_of_another_game_is_refused():
    with pytest.raises(NotationError, match=r"GM\[1\]"):
        read_sgf(["(;GM[1];B[dd])"], SHORT)


def test_list_of_positions_is_a_game_for_each(tmp_path):
    path = tmp_path / "positions.txt"
    path.write_text(
        "# three\nXGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:7:10\nnonsense\n4HPwATDgc/ABMA\n20:1 / 12:2\n"
    )

    record = read_record(path, SHORT)

    assert [fault.line for fault in record.faults] == [3]
    assert [[type(action) for action in game.actions] for game in record.games] == [[Setup, Turn], [Setup], [Setup]]
    games = replay_match(record, SHORT)
    assert games[0].moments[0].position.match_length == 7
    assert games[0].moments[0].play is None
    assert games[0].faults == ()


def test_positions_set_up_in_a_mat_are_read_back(tmp_path):
    path = tmp_path / "list.txt"
    path.write_text("24:15 / 24:14 18:1 dice=31\n")
    record = read_record(path, LONG)

    save_record(tmp_path / "match.mat", record)

    assert read_record(tmp_path / "match.mat", SHORT) == record


@pytest.mark.parametrize("name", ["; a", "# 3"])
def test_name_that_would_be_read_as_something_else_is_refused(name):
    games = (GameRecord(1, (0, 0), (Turn(0, (3, 1), None),)),)
    with pytest.raises(NotationError, match="read otherwise"):
        write_mat(MatchRecord(names=(name, "B"), length=1, games=games))


@pytest.mark.parametrize("name", ["a: 3", "26)me", "7 point match", "Game 2", "Wins 2 points", "O'Hara, J."])
def test_odd_name_is_read_back(name):
    record = MatchRecord(names=(name, "B"), length=1, games=(GameRecord(1, (0, 0), (Turn(0, (3, 1), None),)),))

    assert read(write_mat(record)) == record


@pytest.mark.parametrize("name", ["", " a", "a  b", "a\nb"])
def test_name_without_words_is_refused(name):
    with pytest.raises(NotationError, match="player's name"):
        MatchRecord(names=(name, "B"), length=1, games=())


def test_illegal_play_is_reported_with_the_nearest_and_the_files_board_goes_on():
    record = read("3 point match\nGame 1\nA : 0   B : 0\n1) 31: 8/4 6/5    42: 8/4 6/4\n")

    game = replay_match(record, SHORT)[0]

    first, second = game.moments
    assert first.play is None
    assert first.note.startswith("play '8/4 6/5' is not legal for 3-1; of 16 legal plays the nearest are ")
    assert [fault.line for fault in game.faults] == [4]
    assert second.position.board[1, 4] == 1
    assert second.note == ""


@pytest.mark.parametrize("play", ["13/8 2/1", "13/8 24/20"])
def test_play_that_cannot_be_carried_out_is_replaced_by_the_nearest_legal_one(play):
    """Nobody stands on 2; with 20 blocked by nobody, the second is only too far and is carried out."""
    record = read(f"3 point match\nGame 1\nA : 0   B : 0\n1) 51: {play}     42: 8/4 6/4\n")

    first, second = replay_match(record, SHORT)[0].moments

    assert first.note.startswith(f"play '{play if play[-1] == '1' else '24/20 13/8'}' is not legal for 5-1")
    assert (first.board[0, 13], first.board[0, 8]) == (4, 4)
    legal = [one.board[0].tolist() for one in first.legal]
    assert (first.board[0].tolist() in legal) == (play == "13/8 2/1")
    assert second.note == ""


def test_illegal_play_onto_a_closed_point_is_not_carried_out():
    """A's 24/19 lands on the other side's 6, which holds five."""
    record = read("3 point match\nGame 1\nA : 0   B : 0\n1) 51: 24/19 6/5     42: 8/4 6/4\n")

    first, _ = replay_match(record, SHORT)[0].moments

    assert first.board[0].tolist() in [one.board[0].tolist() for one in first.legal]


def test_missing_turn_is_a_fault_and_play_goes_on():
    record = read(
        "3 point match\nGame 1\nA : 0   B : 0\n1) 31: 8/5 6/5   61: 13/7 8/7\n2) 42: 8/4 6/4\n3) 21: 6/4 5/4\n"
    )

    game = replay_match(record, SHORT)[0]

    assert [str(fault) for fault in game.faults] == ["line 6: row 3: A plays twice in a row; a turn is missing"]
    assert game.moments[-1].position.board[0, 5] == 2


def test_board_says_who_has_won_and_the_file_how_much():
    """B bears its last checker off, and the file has A win."""
    record = read(
        '0 point match\nGame 1\nA : 0   B : 0\n; [Position "1:1 / 6:3"]\n1)               21: 1/0\nWins 2 points\n'
    )

    (game,) = replay_match(record, SHORT)

    assert (game.winner, game.points) == (1, 2)
    assert "written is that A wins 2, on the board B wins 1" in str(game.faults[0])


def test_play_that_is_not_written_is_the_one_that_fits_what_follows():
    """After 3-1 A plays 5/4(2) and 5/3(2) at once: only 8/5 6/5 has brought two checkers to the 5 point."""
    record = read("3 point match\nGame 1\nA : 0   B : 0\n1) 31:     42: 8/4 6/4\n2) 21: 5/3 5/4")

    game = replay_match(record, SHORT)[0]

    assert [str(fault) for fault in game.faults] == ["line 4: row 1: the play is not written; taken as '8/5 6/5'"]
    assert (game.moments[0].play, game.moments[0].board) == (None, None)
    assert [moment.note for moment in game.moments] == ["", "", ""]


def test_play_that_is_not_written_and_cannot_be_told_is_said_to_be_a_choice():
    record = read("3 point match\nGame 1\nA : 0   B : 0\n1) 31:     42: 8/4 6/4\n")

    game = replay_match(record, SHORT)[0]

    assert len(game.moments) == 2
    assert "more fit what follows" in game.faults[0].text


def test_play_that_is_not_written_ends_the_replay_where_nothing_fits():
    record = read("3 point match\nGame 1\nA : 0   B : 0\n1) 31:     42: 20/14\n")

    game = replay_match(record, SHORT)[0]

    assert len(game.moments) == 1
    assert game.faults[-1].text == "row 1: the play is not written; the rest of the game is left out"


def test_cube_and_score_are_followed():
    record = read(GNUBG_LIKE)

    first, second = replay_match(record, SHORT)

    doubled, taken = first.moments[2], first.moments[3]
    assert (doubled.action.kind, doubled.position.cube_value, doubled.position.offer) == ("double", 1, "none")
    assert (taken.position.offer, taken.position.row0_player) == ("double", 1)
    after = first.moments[4].position
    assert (after.cube_value, after.cube_owner) == (2, 1)
    assert first.moments[7].position.cube_owner == 0
    assert (first.winner, first.points, first.ending) == (0, 2, "pass")
    assert (first.faults, second.faults) == ((), ())
    assert [len(moment.legal) for moment in second.moments][2] == 1
    assert second.moments[0].position.scores == (2, 0)
    assert not first.crawford


@pytest.mark.parametrize(
    ("scores", "header", "crawford"),
    [
        ([(2, 0), (2, 1)], "", [True, False]),
        ([(1, 0), (2, 0)], "", [False, True]),
        ([(2, 0)], '; [Crawford "Off"]\n', [False]),
        ([(0, 0)], "", [False]),
    ],
)
def test_crawford_game_is_the_first_in_which_a_side_is_one_point_away(scores, header, crawford):
    games = "".join(f"Game {i + 1}\nA : {a}   B : {b}\n1) 31: 8/5 6/5\n" for i, (a, b) in enumerate(scores))

    replayed = replay_match(read(f"{header}3 point match\n{games}"), SHORT)

    assert [game.crawford for game in replayed] == crawford


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("1) Doubles => 2   Takes\n2) 31: 8/5 6/5   42: 8/4 6/4\n3) Doubles => 4", "A doubles, but B owns the cube"),
        ("1) 31: 8/5 6/5    Doubles => 2\n2) 42: 8/4 6/4", "the double before it has no answer; taken as a take"),
        ("1) Doubles => 2   Drops\n2) 31: 8/5 6/5", "row 2 stands behind the end of the game and is left out"),
        ("1) Doubles => 2   Drops\nWins 3 points", "written is that A wins 3, on the board A wins 1"),
    ],
)
def test_what_the_rules_of_the_cube_forbid_is_a_fault(body, text):
    record = read(f"5 point match\nGame 1\nA : 0   B : 0\n{body}\n")

    faults = [str(fault) for game in replay_match(record, SHORT) for fault in game.faults]

    assert any(text in fault for fault in faults), faults


@pytest.mark.parametrize(
    ("score", "body", "fits"),
    [
        (0, "1) 31: 8/5 6/5\nWins 2 points", True),
        (0, "1) 31: 8/5 6/5\nWins 5 points", False),
        (0, "1) Doubles => 2   Takes\nWins 4 points", True),
        (0, "1) Doubles => 2   Takes\nWins 1 point", False),
        (3, "1) Doubles => 4   Takes\nWins 2 points and the match", True),
        (0, "1) 31: 8/5 6/5   Resigns\nWins 2 points", True),
        (0, "1) 31: 8/5 6/5   Resigns\nWins 5 points", False),
        (0, "Wins 5 points", True),
    ],
)
def test_points_that_no_resigned_game_is_worth_are_a_fault(score, body, fits):
    """All for A, who comes with so many points of 5. A game without a row was not written down."""
    (game,) = replay_match(read(f"5 point match\nGame 1\nA : {score}   B : 0\n{body}\n"), SHORT)

    assert game.winner == 0
    assert ["which no game with the cube" not in str(fault) for fault in game.faults] == ([] if fits else [False])


@pytest.mark.parametrize(("arithmetic", "stake"), [(False, 4), (True, 3)])
def test_stake_that_is_not_written_grows_by_the_rules(arithmetic, stake):
    record = read(
        "0 point match\nGame 1\nA : 0   B : 0\n1) Doubles   Takes\n2) 31: 8/5 6/5   Doubles\n3) Takes   31: 8/5 6/5"
    )
    assert replay_match(record, SHORT, arithmetic=arithmetic)[0].moments[-1].position.cube_value == stake


def test_score_that_does_not_follow_is_a_fault():
    record = read("5 point match\nGame 1\nA : 0   B : 0\nWins 1 point\nGame 2\nA : 2   B : 0\n1) 31: 8/5 6/5\n")

    faults = replay_match(record, SHORT)[1].faults

    assert str(faults[0]) == "line 5: game 2 begins at 2-0, the games before it make 1-0"


def test_beaver_turns_the_cube_twice_and_stays_with_him_who_beavered():
    record = read(
        "0 point match\nGame 1\nA : 0   B : 0\n1) Doubles => 2   Beavers => 4\n2) 31: 8/5 6/5   42: 8/4 6/4\n"
    )

    moments = replay_match(record, SHORT)[0].moments

    assert (moments[-1].position.cube_value, moments[-1].position.cube_owner) == (4, 0)


@pytest.mark.parametrize(("text", "reader"), [(GNUBG_LIKE, read_mat), (XG_LIKE, read_mat), (SGF, read_sgf)])
def test_mangled_file_is_read_or_refused(text, reader):
    """Whatever is cut out or put in: NotationError, or a record that can be replayed, written and read back equal."""
    rng = np.random.default_rng(5)
    for _ in range(MANGLED):
        first, last = sorted(rng.integers(0, len(text), 2))
        last = min(last, first + int(rng.integers(1, 12)))
        letters = "".join(rng.choice(list("0123456789/:)(*[];\n BWad=>"), rng.integers(0, 6)))
        try:
            record = reader(lines(text[:first] + letters + text[last:]), SHORT)
            assert read(write_mat(record)) == record
        except NotationError:
            continue
        for game in replay_match(record, SHORT):
            assert len(game.moments) <= len(game.record.actions)
